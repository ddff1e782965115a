"""The admission server: what becomes of head pods, head Services and RayServices on their way into the cluster.

``review`` carries (AdmissionReview in, AdmissionReview out); ``injection``, ``services`` and ``rayservices`` decide;
all of them are pure. ``app`` serves them, ``cluster`` asks the API server, ``watchdog`` repairs what a webhook that was
down has missed, ``events`` tells.
"""
