"""`holdfast demo`: the problem and its cure, seen on this machine, on a real Ray.

It promises to tell nothing that it did not observe: the closing line is computed from Ray's own answers.

``story``     who owns what, what happens, and why. Data
``observe``   Ray's answer -> what runs, what was lost, what was restarted. Pure, and the only witness
``kuberay``   the operator's part: what KubeRay asks of Ray, and what it concludes
``teams``     how a team gets one application into Ray Serve, without Holdfast and with it
``telling``   one telling: each step taken, waited for, watched
``scene``     what is to be seen at one moment, in words; ``screens`` and ``live`` show it
``report``    the closing line and the exit code, from the records of both tellings
``run``       composition, and the order in which things end
``ray_head``  a real Ray head on loopback;  ``sidecar``  a real proxy
``apps``      the applications. Ray imports them, in its own environment
"""
