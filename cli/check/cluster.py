"""The checks of what Holdfast stands on: Kubernetes, KubeRay, clocks; and of what an installation needs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from cli.check.findings import Finding, failed, ok, warning
from cli.check.seen import NotSeenError, Seen

MATCH_CONDITIONS_SINCE, NATIVE_SIDECARS_SINCE = (1, 28), (1, 29)
"""The first Kubernetes that has them without being asked."""

KUBERAY_FROM, KUBERAY_TO = (1, 0), (1, 7)
SKEW_S = 60.0
"""How far two clocks may be apart: Kubernetes' own tokens are good for a minute beyond their time."""


def kubernetes(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Is the API server new enough?"""
    name, said = "kubernetes", seen["version"]
    version = (_digits(said["major"]), _digits(said["minor"]))
    text = f"Kubernetes {said['gitVersion']}"
    if version < MATCH_CONDITIONS_SINCE:
        yield failed(
            name, f"{text} has no matchConditions", "upgrade to 1.28 or newer, or use `holdfast inject` instead"
        )
    elif version < NATIVE_SIDECARS_SINCE:
        fix = "upgrade to 1.29; until then the sidecar is a plain container: under restartPolicy Never it ends for good"
        yield warning(name, f"{text} has no native sidecars", fix)
    else:
        yield ok(name, text)


def definitions(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Does the cluster know RayServices of the version that is asked about?"""
    name, definition = "rayservice-definition", seen["definition"]
    if definition is None:
        yield failed(name, "there are no RayServices in this cluster", "install KubeRay 1.0 or newer")
        return
    served = [each["name"] for each in definition["spec"]["versions"] if each.get("served")]
    if "v1" in served:
        yield ok(name, f"RayServices are served as {', '.join(sorted(served))}")
    else:
        yield failed(
            name, f"RayServices are served as {', '.join(served)} only", "upgrade KubeRay's definitions to 1.0"
        )


def operator(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Which KubeRay runs?"""
    name = "kuberay"
    if not seen["operators"]:
        yield warning(name, "no KubeRay operator found by its labels", "nothing to do if it runs elsewhere")
    for deployment in seen["operators"]:
        namespace, called = deployment["metadata"]["namespace"], deployment["metadata"]["name"]
        where, image, version = f"{namespace}/{called}", _image(deployment), operator_version(deployment)
        if not (deployment.get("status") or {}).get("readyReplicas"):
            fix = f"kubectl -n {namespace} describe deployment {called}"
            yield failed(name, f"the KubeRay operator {where} does not run: nobody sees to RayServices", fix)
        elif version is None:
            yield warning(name, f"{where} runs {image}, which does not tell its version", "1.0 to 1.7 are supported")
        elif KUBERAY_FROM <= version <= KUBERAY_TO:
            yield ok(name, f"KubeRay {image.rpartition(':')[2].removeprefix('v')} in {where}")
        else:
            yield warning(name, f"{where} runs {image}", "1.0 to 1.7 are tested; read docs/compatibility.md")


def operator_version(deployment: dict[str, Any]) -> tuple[int, int] | None:
    """Major and minor, by the tag of its image; None where that does not tell."""
    found = re.search(r":v?(\d+)\.(\d+)", _image(deployment))
    return (int(found[1]), int(found[2])) if found else None


def clocks(seen: Seen, now: datetime) -> Iterator[Finding]:
    """Does the API server have the time that we have? ``now`` is ours: tokens and certificates go by such clocks."""
    name, theirs = "clock", seen["clock"]
    if theirs is None:
        yield warning(name, "the API server does not tell the time", "nothing to do")
        return
    skew_s = (now - theirs).total_seconds()
    if abs(skew_s) <= SKEW_S:
        yield ok(name, "this machine and the API server agree on the time")
        return
    text = f"this machine's clock is {span(abs(skew_s))} {'ahead of' if skew_s > 0 else 'behind'} the API server's"
    yield failed(name, text, "set both by NTP: certificates and tokens begin and end by them")


def span(seconds: float) -> str:
    """A time in its largest whole unit: ``90 s`` is ``1 min``."""
    units = ((86400, "days"), (3600, "h"), (60, "min"))
    return next((f"{int(seconds // size)} {unit}" for size, unit in units if seconds >= size), f"{int(seconds)} s")


def rights(seen: Seen, _: datetime) -> Iterator[Finding]:
    """May the person who asks install?"""
    name = "rights"
    for (_, resource), allowed in seen["rights"].items():
        if isinstance(allowed, NotSeenError):
            raise allowed
        if not allowed:
            yield failed(name, f"you may not create {resource}", "ask a cluster administrator to install Holdfast")
            return
    yield ok(name, "you may create everything that is installed")


def leftovers(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Is there a webhook configuration without a webhook?"""
    name = "leftovers"
    if seen["configuration"] is not None and seen["deployment"] is None:
        yield failed(name, "a webhook configuration is left of an earlier installation", "holdfast uninstall")
    elif seen["deployment"] is not None:
        yield ok(name, "Holdfast is installed already; installing again upgrades it")
    else:
        yield ok(name, "nothing is left of an earlier installation")


def _image(deployment: dict[str, Any]) -> str:
    return str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])


def _digits(text: str) -> int:
    return int("".join(filter(str.isdigit, text)) or 0)
