"""The sidecar beside Ray's head: what KubeRay and everybody else reach on the dashboard's port.

``app``           a request's way, on one screen: which handler answers it, or that it passes to Ray as it came
``applications``  the two intercepted Serve calls: KubeRay's GET is filtered, every PUT is merged
``deploying``     read, plan, PUT: one at a time
``oneapp``        one application at a time, over REST
``ray``           every call of ours to Ray
``relay``         everything else, byte for byte (with ``http/``)
"""
