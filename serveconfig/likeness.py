"""Is this the same config? Asked before anything is PUT, because a PUT that changes nothing still moves things.

Ray answers a repeated config with 200 and lets every application in it flicker to DEPLOYING; one that is still being
built starts over (facts: section 3). So "the same" has to be decided here, and as Ray would decide it:

1. The order of members and white space mean nothing; the order of lists does.
2. ``1`` and ``1.0`` differ: Ray hashes ``args`` and ``runtime_env`` as text, and a new hash restarts the replicas.
3. What Ray stored is not always what was sent: it turns ``num_cpus: 5`` into ``5.0``, drops what it does not know and
   adds the global ``logging_config`` (facts: section 4). So both are remembered, as a ``Receipt``: an application is
   unchanged if the same was sent before *and* Ray still stores what it made of that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from serveconfig.document import Application, ServeConfig, print_members
from serveconfig.running import Origin, Running, RunningApplication, Status


def fingerprint(raw: bytes) -> str:
    """A digest of what Ray would read: equal for JSON that means the same to Python, number spelling included."""
    try:
        same = json.dumps(json.loads(raw), sort_keys=True).encode()
    except (RecursionError, ValueError):  # deeper, or an integer longer, than Python reads: then bytes are compared
        same = raw
    return hashlib.sha256(same).hexdigest()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was sent for an application, and what Ray stored of it; both as fingerprints."""

    sent: str
    stored: str


def receipts(sent: ServeConfig, running: Running) -> dict[str, Receipt]:
    """What Ray made of a config it has accepted. Applications it shows no config of are left out."""
    return {
        application.name: Receipt(fingerprint(application.raw), fingerprint(app.config.raw))
        for application in sent.applications
        if (app := running.here(application.name)) and app.config
    }


def is_unchanged(application: Application, running: Running, known: Mapping[str, Receipt]) -> bool:
    """Would sending this application again move nothing, and retry nothing?"""
    app = running.here(application.name)
    if app is None or not _is_settled(app) or app.config is None:
        return False
    sent, stored = fingerprint(application.raw), fingerprint(app.config.raw)
    return sent == stored or known.get(application.name) == Receipt(sent, stored)


def same_options(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
    """Do the top-level options mean the same?"""
    return fingerprint(print_members(one)) == fingerprint(print_members(other))


def _is_settled(app: RunningApplication) -> bool:
    """A failed one is to be tried again; one that is imperative by now is to be taken back."""
    return app.origin is Origin.DECLARATIVE and app.status != Status.DEPLOY_FAILED
