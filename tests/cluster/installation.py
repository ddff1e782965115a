"""Holdfast, installed as docs/install.md tells its users: the overlay is the one that stands there.

What that page says is therefore proven, or the stories do not begin.
"""

import asyncio
import re
import sys
import time
from pathlib import Path

from tests.cluster.image_names import image
from tests.cluster.kubectl import kubectl
from tests.cluster.node import programs
from tests.cluster.node.commands import run
from tests.cluster.node.paths import REPOSITORY

NAMESPACE = "holdfast"
_PAGE = Path("docs") / "install.md"
_OVERLAY = Path(".cache") / "cluster" / "overlay"
_TRUSTED = "{.webhooks[*].clientConfig.caBundle}"
_WEBHOOKS = 3


async def install(tree: Path = REPOSITORY, tag: str = "test") -> None:
    """Install a tree's manifests with the image of that tag, and wait until `holdfast check` finds nothing amiss.

    What another version of it checks is not known here: of that one only, whether it is called.

    Raises: KubectlError if it is refused, TimeoutError if it does not become ready, with the check's own words.
    """
    overlay = tree / _OVERLAY
    overlay.mkdir(parents=True, exist_ok=True)
    text = own_image_overlay((tree / _PAGE).read_text(), image("holdfast/holdfast", tag))
    (overlay / "kustomization.yaml").write_text(text)
    await kubectl("apply", f"--kustomize={overlay}")
    await restart()
    await _until_called(patience_s=60, is_checked=tree == REPOSITORY)


async def restart() -> None:
    """Another pod for each replica, one after the other: an image under the same name is then the new one."""
    await _kubectl("rollout", "restart", "deployment/holdfast-webhook")
    await _kubectl("rollout", "status", "deployment/holdfast-webhook", "--timeout=120s", timeout_s=130)


async def scale(replicas: int) -> float:
    """The seconds until there are that many ready replicas, and until no other pod of the webhook is left."""
    started = time.monotonic()
    await _kubectl("scale", "deployment/holdfast-webhook", f"--replicas={replicas}")
    await _kubectl("rollout", "status", "deployment/holdfast-webhook", "--timeout=120s", timeout_s=130)
    if replicas == 0:
        await _kubectl("wait", "--for=delete", "pod", "--selector=app.kubernetes.io/name=holdfast", "--timeout=90s")
    return time.monotonic() - started


async def pods() -> dict[str, str]:
    """The webhook's pods: name to address."""
    fields = "{range .items[*]}{.metadata.name} {.status.podIP}{'\\n'}{end}".replace("'", '"')
    ours = "--selector=app.kubernetes.io/component=webhook"
    return dict(
        line.split() for line in (await _kubectl("get", "pods", ours, f"--output=jsonpath={fields}")).splitlines()
    )


async def is_there() -> bool:
    """Is it installed?"""
    return bool(await kubectl("get", "namespace", NAMESPACE, "--ignore-not-found", "--output=name"))


async def uninstall(*options: str) -> None:
    """`holdfast uninstall`, until the namespace is gone: until then nothing can be installed into it.

    Raises: RuntimeError with what it printed if it does not succeed.
    """
    status, said = await _holdfast("uninstall", "--yes", *options, patience_s=120)
    if status:
        raise RuntimeError(f"holdfast uninstall ended with {status}:\n{said}")
    await is_gone()


async def is_gone() -> None:
    """Wait until its namespace is gone. Raises: KubectlError if it is not after two minutes."""
    await kubectl("wait", "--for=delete", f"namespace/{NAMESPACE}", "--timeout=120s", timeout_s=130)


async def install_chart() -> None:
    """By Helm, with its chart and no other value than the image. Raises: as ``install``."""
    name, _, tag = image("holdfast/holdfast", "test").rpartition(":")
    await asyncio.to_thread(programs.build, (programs.HELM,))
    values = (f"--set=image.repository={name}", f"--set=image.tag={tag}")
    command = [str(programs.HELM.path), "install", "holdfast", str(REPOSITORY / "manifests" / "chart")]
    await asyncio.to_thread(run, [*command, f"--namespace={NAMESPACE}", "--create-namespace", *values])
    await _kubectl("rollout", "status", "deployment/holdfast-webhook", "--timeout=120s", timeout_s=130)
    await _until_called(patience_s=60, is_checked=True)


def own_image_overlay(page: str, name: str) -> str:
    """The overlay of the section "An image of your own", for an image and for this repository's folder. Pure."""
    section = page.partition("## An image of your own")[2]
    text = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    if text is None:
        raise LookupError(f"{_PAGE.name} shows no overlay for an image of one's own")
    return re.sub(r"YOUR/holdfast:[\w.+-]+", name, text[1]).replace("path/to/", "../../../")


async def _until_called(*, patience_s: float, is_checked: bool) -> None:
    """The API server learns the certificate within a second or two: until then it asks nobody, and admits."""
    deadline = time.monotonic() + patience_s
    while True:
        trusted = await kubectl("get", "mutatingwebhookconfiguration/holdfast", f"--output=jsonpath={_TRUSTED}")
        status, said = await check() if is_checked else (0, "")
        if len(trusted.split()) == _WEBHOOKS and status == 0:
            await asyncio.sleep(2)
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"Holdfast is not ready after {patience_s:.0f} s:\n{said}")
        await asyncio.sleep(1)


async def check(*options: str) -> tuple[int, str]:
    """`holdfast check`: its exit code and what it printed."""
    return await _holdfast("check", *options, patience_s=60)


async def first_failing(*options: str) -> str:
    """The first line of `holdfast check` that failed, without its mark; "all checks passed" if there is none."""
    status, text = await check(*options)
    failing = [line.removeprefix("FAILED").strip() for line in text.splitlines() if line.startswith("FAILED")]
    return failing[0] if failing else f"exit code {status}" * bool(status) or "all checks passed"


async def first_failing_with(cause: str, *options: str, patience_s: float) -> str:
    """The same, as soon as it speaks of ``cause``; after ``patience_s`` whatever it says by then."""
    deadline = time.monotonic() + patience_s
    while True:
        said = await first_failing(*options)
        if cause in said or time.monotonic() > deadline:
            return said
        await asyncio.sleep(1)


async def _holdfast(*arguments: str, patience_s: float) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("holdfast")), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), patience_s)
    return process.returncode or 0, said.decode()


async def _kubectl(*arguments: str, timeout_s: float = 120) -> str:
    return await kubectl(*arguments, f"--namespace={NAMESPACE}", timeout_s=timeout_s)
