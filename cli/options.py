"""Options that several commands share: one definition, so that each means the same everywhere."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from certs.apiserver import Login


def add_login(command: argparse.ArgumentParser) -> None:
    """Which cluster: ``--kubeconfig`` and ``--context``."""
    command.add_argument("--kubeconfig", metavar="FILE", help="as for kubectl")
    command.add_argument("--context", metavar="NAME", help="as for kubectl")


def add_place(command: argparse.ArgumentParser) -> None:
    """Where Holdfast itself is installed. Never ``-n``: that one is for RayServices."""
    command.add_argument(
        "--holdfast-namespace", metavar="NAME", help="where Holdfast is installed (holdfast) [HOLDFAST_NAMESPACE]"
    )


def add_namespace(command: argparse.ArgumentParser, text: str) -> None:
    """``-n``: the namespace of RayServices."""
    command.add_argument("-n", "--namespace", metavar="NAME", help=text)


def add_sidecar(command: argparse.ArgumentParser) -> None:
    """Which sidecar: that of a RayService's head, through the API server; or one at a URL."""
    add_namespace(command, "of the RayService (that of the context, as for kubectl)")
    command.add_argument("-r", "--rayservice", metavar="NAME", help="the RayService (the only one of the namespace)")
    command.add_argument(
        "--cluster",
        metavar="NAME|pending",
        help="during an upgrade, which RayCluster of it (the active one, which serves)",
    )
    command.add_argument("--url", metavar="URL", help="no Kubernetes: the sidecar is here, e.g. http://HOST:28265")
    add_login(command)


def login(options: argparse.Namespace) -> Login:
    """The options of ``add_login``, read."""
    from certs.apiserver import Login  # noqa: PLC0415 - with the command that needs it

    return Login(context=options.context, kubeconfig=options.kubeconfig)
