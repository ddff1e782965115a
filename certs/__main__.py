"""`holdfast certs`: the certificates of one cluster looked after once, or made into a folder for a developer."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client import CollectorRegistry

from certs.apiserver import ApiError, ApiServer, Login, UnreachableError
from certs.authority import first
from certs.bundle import CA_CERT, CERT, KEY, Bundle
from certs.metrics import CertificateMetrics
from certs.place import Place
from certs.renewal import Terms
from certs.rotation import Rotation
from certs.store import ConflictError, Store
from certs.tls import LiveContext

EXIT_FAILED = 1


def run(place: Place, login: Login) -> int:
    """One step of the rotation, as a webhook's replica does it every minute. The exit code."""
    try:
        bundle = asyncio.run(_step(place, login))
    except (ApiError, UnreachableError, ConflictError) as error:
        sys.stderr.write(f"holdfast certs: {error}.\n")
        return EXIT_FAILED
    end = bundle.serving.certificate().not_valid_after_utc
    sys.stdout.write(f"{place.names()[0]}: certificate in Secret {place.namespace}/{place.secret}, good until {end}\n")
    return 0


async def _step(place: Place, login: Login) -> Bundle:
    async with ApiServer.connected(context=login.context, kubeconfig=login.kubeconfig) as api:
        metrics = CertificateMetrics(CollectorRegistry())
        return await Rotation(Store(api, place), LiveContext(), metrics, names=place.names()).step()


def write(folder: Path, names: tuple[str, ...]) -> int:
    """An authority and a certificate for ``names`` into ``folder``; no cluster is asked. The exit code."""
    bundle = first(names, Terms(), datetime.now(UTC))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CERT).write_bytes(bundle.serving.cert_pem)
        (folder / CA_CERT).write_bytes(bundle.trust_pem())
        with os.fdopen(os.open(folder / KEY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as key:
            key.write(bundle.serving.key_pem)
    except OSError as error:
        sys.stderr.write(f"holdfast certs: cannot write to {folder}: {error.strerror}.\n")
        return EXIT_FAILED
    sys.stdout.write(f"{folder}: {CERT}, {KEY} and {CA_CERT} for {', '.join(names)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(run(Place.from_env(os.environ), Login()))
