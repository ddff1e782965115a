"""`holdfast inject` and `uninject`: a RayService's manifest with the sidecar in it, for clusters without the webhook.

``rayservice``  what becomes of the head template. Pure, on plain data
``documents``   a stream of YAML documents, one at a time
``editing``     the same change made in the text, so that comments and layout stay. Pure
``run``         files, standard input and output
"""
