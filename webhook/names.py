"""The words of Holdfast on Kubernetes objects: labels, annotations, container, volumes. Pure.

Users write those of the first group; the others are Holdfast's own.
"""

from __future__ import annotations

DOMAIN = "holdfast.dev"

INJECT = f"{DOMAIN}/inject"
"""Label of a namespace: ``enabled``. Annotation of a RayService: ``"false"`` leaves it alone."""

DYNAMIC_APPS = f"{DOMAIN}/dynamic-apps"
"""Annotation of a RayService: globs of application names, separated by commas, such as ``model-*, batch``."""

DYNAMIC_WRITERS = f"{DOMAIN}/dynamic-writers"
"""Annotation of a RayService: users or field managers, separated by commas, whose applications are dynamic."""

UPDATE_IN_PLACE = f"{DOMAIN}/update-in-place"
"""Annotation of a RayService: ``"false"`` rolls a new cluster when the static config changes."""

ALLOW_LOSS = f"{DOMAIN}/allow-loss"
"""Annotation of a RayService: ``"true"`` lets a PUT to Ray before 2.11 delete applications of ``serve.run``."""

ARRIVAL_DEADLINE = f"{DOMAIN}/arrival-deadline"
"""Annotation of a RayService: how long a new cluster waits for its carried-over applications, such as ``10m``."""

ADDED_BY = f"{DOMAIN}/added-by"
"""Annotation of a RayService, ours: who added each dynamic application, as JSON."""

HELD_APPS = f"{DOMAIN}/held-apps"
"""Annotation of a RayService, ours: dynamic applications held while ``serveConfigV2`` cannot be read, as JSON."""

STATIC_CONFIG_HASH = f"{DOMAIN}/static-config-hash"
"""Annotation of the head template, ours: another hash is another cluster."""

REDIRECTED = f"{DOMAIN}/redirected"
"""Annotation of a head Service, ours: its ports as they were, as JSON."""

RAYSERVICE = f"{DOMAIN}/rayservice"
"""Annotation of a head pod, ours: the RayService it serves."""

JOURNAL_LABEL = f"{DOMAIN}/journal"
"""Label of the Secrets that hold a journal."""

CA_CONFIGMAP = "holdfast-ca"
"""ConfigMap in a namespace with heads: whom their sidecars trust as the journal."""

CONTAINER = "holdfast-proxy"
STATE_VOLUME = "holdfast-state"
TOKEN_VOLUME = "holdfast-token"  # noqa: S105 - a volume's name
TOKEN_PATH = "/var/run/secrets/holdfast"  # noqa: S105 - a folder
TOKEN_AUDIENCE = "holdfast"  # noqa: S105 - whom the token is for

PROXY_PORT = 28265
AGENT_PROXY_PORT = 28266
