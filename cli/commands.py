"""The commands that speak to a cluster, or prepare one: their options, and the hand-over. Parts are imported late."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.apps import options as apps_options
from cli.diff import options as diff_options
from cli.explain import options as explain_options
from cli.options import add_login, add_namespace, add_place, login

if TYPE_CHECKING:
    from certs.place import Place

IMAGE = "holdfast/holdfast:0.1.0"
NATIVE_SIDECARS_SINCE, USAGE_TAGS_SINCE = (1, 29), (1, 1)
"""The first Kubernetes with native sidecars; the first KubeRay whose client keeps them (webhook.injection, rule 2)."""


def add(commands: Any) -> None:  # noqa: ANN401 - argparse has no public name for it
    """Add the parsers of these commands."""
    _add_webhook(commands)
    _add_certs(commands)
    apps_options.add(commands)
    diff_options.add(commands)
    explain_options.add(commands)
    _add_check(commands)
    for name in ("inject", "uninject"):
        _add_inject(commands, name)
    _add_uninstall(commands)


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the command that was given."""
    return RUN[options.command](options, environ)


def _add_webhook(commands: Any) -> None:  # noqa: ANN401 - see add
    commands.add_parser(
        "webhook",
        help="run the admission webhook of a cluster",
        description="Runs the webhook with its watchdog and its certificates. All that can be set are the variables "
        "HOLDFAST_WEBHOOK_...: docs/settings.md. Ends on SIGTERM, after the requests in flight.",
    )


def _add_certs(commands: Any) -> None:  # noqa: ANN401 - see add
    command = commands.add_parser(
        "certs",
        help="look after the webhook's certificates once",
        description="Does once what the webhook does every minute: makes or renews the certificate in its Secret when "
        "it is due, and writes the caBundle of the webhook configuration if it is missing or outdated.",
    )
    command.add_argument(
        "--to", metavar="DIR", type=Path, help="ask no cluster: write an authority and a certificate into this folder"
    )
    command.add_argument("--name", action="append", help="with --to, a DNS name it is for; can be given several times")
    add_login(command)
    add_place(command)


def _add_check(commands: Any) -> None:  # noqa: ANN401 - see add
    command = commands.add_parser(
        "check",
        help="is everything as it should be, and what to do where it is not",
        description="Looks at the cluster, KubeRay, Holdfast and every RayService that takes part, and writes one line "
        "a check, with what to do beside it. Changes nothing.",
        epilog="Exit codes: 0 if no check failed, 1 if one did, 2 if the cluster could not be looked at.",
    )
    command.add_argument("--pre", action="store_true", help="before the installation: can it be installed?")
    add_namespace(command, "only the RayServices of this namespace")
    command.add_argument("-o", "--output", choices=("text", "json"), default="text", help="%(default)s")
    add_login(command)
    add_place(command)


def _add_inject(commands: Any, name: str) -> None:  # noqa: ANN401 - see add
    is_inject = name == "inject"
    command = commands.add_parser(
        name,
        help="put the sidecar into a RayService's manifest, for a cluster without the webhook"
        if is_inject
        else "take it out of a manifest again",
        description="Reads manifests and writes them with the sidecar in every RayService; the text stays as it is "
        "otherwise. Applied to a RayService that runs, KubeRay makes a new cluster, once. Needs no cluster."
        if is_inject
        else "Reads manifests and writes them as they were before `holdfast inject`. Needs no cluster.",
    )
    command.add_argument("-f", "--filename", metavar="FILE", required=True, help="the manifests; - is standard input")
    command.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="where to; - is standard output (%(default)s)"
    )
    if is_inject:
        command.add_argument("--image", metavar="IMAGE", default=IMAGE, help="the sidecar's image (%(default)s)")
        command.add_argument(
            "--kubernetes", metavar="VERSION", type=_version, default=(1, 34), help="where it is to run (1.34)"
        )
        command.add_argument(
            "--kuberay", metavar="VERSION", type=_version, default=(1, 7), help="who is to run it (1.7)"
        )


def _add_uninstall(commands: Any) -> None:  # noqa: ANN401 - see add
    command = commands.add_parser(
        "uninstall",
        help="remove Holdfast from a cluster, in the order that hurts nobody",
        description="Removes the webhook configuration first, then the webhook, leads every head Service back to Ray, "
        "and removes the rest. RayServices and what runs in them are not touched. "
        "It says what it leaves. Can be run again.",
        epilog="Exit codes: 0 if it is done, 1 if it failed on the way, 2 if you said no.",
    )
    command.add_argument("--yes", action="store_true", help="do not ask")
    how_far = command.add_mutually_exclusive_group()
    how_far.add_argument(
        "--step-aside",
        action="store_true",
        help="remove only the webhook configuration, the webhook and its certificate, and lead the Services back: the "
        "rest goes by what it was installed with (Helm's chart does this by itself)",
    )
    how_far.add_argument(
        "--forget",
        action="store_true",
        help="remove also what is left on purpose: journals, the ConfigMaps holdfast-ca, annotations holdfast.dev/... "
        "of RayServices, the label of namespaces",
    )
    add_login(command)
    add_place(command)


def _version(text: str) -> tuple[int, int]:
    found = re.match(r"v?(\d+)\.(\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 1.29")
    return int(found[1]), int(found[2])


def _run_webhook(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from webhook.__main__ import run as webhook  # noqa: PLC0415 - this command's part

    return webhook(environ)


def _run_certs(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from certs import __main__ as certs  # noqa: PLC0415 - this command's part

    place = _place(options, environ)
    if options.to is not None:
        return certs.write(options.to, tuple(options.name or place.names()))
    return certs.run(place, login(options))


def _run_check(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from cli.check.run import run as check  # noqa: PLC0415 - this command's part

    place = _place(options, environ)
    return check(place, login(options), pre=options.pre, namespace=options.namespace, output=options.output)


def _run_apps(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from cli.apps.run import run as apps  # noqa: PLC0415 - this command's part

    return apps(options, environ)


def _run_diff(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from cli.diff.run import run as diff  # noqa: PLC0415 - this command's part

    return diff(options, environ)


def _run_explain(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from cli.explain.run import run as explain  # noqa: PLC0415 - this command's part

    return explain(options, environ)


def _run_inject(options: argparse.Namespace, _: Mapping[str, str]) -> int:
    from cli.inject.rayservice import Target  # noqa: PLC0415 - this command's part
    from cli.inject.run import run as inject  # noqa: PLC0415 - this command's part
    from webhook.injection import SidecarForm  # noqa: PLC0415 - this command's part

    image, kubernetes, kuberay = (getattr(options, name, None) for name in ("image", "kubernetes", "kuberay"))
    is_native = (kubernetes or NATIVE_SIDECARS_SINCE) >= NATIVE_SIDECARS_SINCE
    is_new = (kuberay or USAGE_TAGS_SINCE) >= USAGE_TAGS_SINCE
    target = Target(SidecarForm(image or IMAGE), is_native=is_native and is_new, needs_agent_port=not is_new)
    return inject(options.command, options.filename, output=options.output, target=target)


def _run_uninstall(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from cli.uninstall.run import run as uninstall  # noqa: PLC0415 - this command's part

    how = {"yes": options.yes, "step_aside": options.step_aside, "forget": options.forget}
    return uninstall(_place(options, environ), login(options), **how)


RUN: dict[str, Callable[[argparse.Namespace, Mapping[str, str]], int]] = {
    "webhook": _run_webhook,
    "certs": _run_certs,
    "apps": _run_apps,
    "diff": _run_diff,
    "explain": _run_explain,
    "check": _run_check,
    "inject": _run_inject,
    "uninject": _run_inject,
    "uninstall": _run_uninstall,
}


def _place(options: argparse.Namespace, environ: Mapping[str, str]) -> Place:
    from certs.place import Place  # noqa: PLC0415 - with the command that needs it

    place = Place.from_env(environ)
    return replace(place, namespace=options.holdfast_namespace) if options.holdfast_namespace else place
