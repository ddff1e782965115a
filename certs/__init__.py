"""The webhook's certificates: made, renewed, shared by its replicas, trusted by the API server, loaded live.

The API server calls the webhook only over TLS, and checks the certificate against the ``caBundle`` of the webhook's
configuration. This package keeps those two in step, without cert-manager and without a person.

``bundle``     an authority, a serving certificate, and which authorities are trusted; to and from a Secret. Pure
``authority``  makes an authority, signs a serving certificate. Given the time. Pure but for the random keys
``renewal``    must anything be renewed, what, and why. Pure; the rules stand at its top
``place``      how the Secret, the Service and the webhook configuration are called. Pure
``apiserver``  the Kubernetes API in plain JSON; foreign exceptions stop here
``store``      every call about certificates: the Secret with optimistic concurrency, the caBundle kept in place
``rotation``   the loop over all of it
``folder``     the other source: certificates that cert-manager keeps in a mounted folder
``tls``        a certificate in the live ``ssl.SSLContext``
"""
