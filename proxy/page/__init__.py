"""The page at ``/-/``: what ``/-/status`` says, for people.

``page.html``, its style and its scripts are sent as one document (``document``). It loads nothing else, and asks for
``status``, relative to itself: so it works behind a port-forward and below the API server's proxy path alike.
"""
