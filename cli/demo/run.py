"""`holdfast demo`: one Ray head, two tellings, one closing line. Composition, and the order in which things end."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

from cli.demo import processes, teams
from cli.demo.interruption import Interrupted, Interruption
from cli.demo.kuberay import KubeRay
from cli.demo.ray_head import RayHead, RayStartError
from cli.demo.report import Record, as_json, closing_line, exit_code
from cli.demo.screens import NoScreenError, Screen, choose
from cli.demo.sidecar import SidecarError, sidecar
from cli.demo.story import CHAPTERS, Application
from cli.demo.telling import Stage, Telling
from cli.demo.watch import StoryError
from cli.demo.wire import NoAnswerError

CANNOT_TELL = 2
WITHOUT = "Without Holdfast: KubeRay talks to Ray"
WITH = "With Holdfast: KubeRay talks to Holdfast, and Holdfast to Ray"
APPS = Path(__file__).with_name("apps")
TROUBLE = (
    NoAnswerError,
    NoScreenError,
    OSError,
    RayStartError,
    SidecarError,
    StoryError,
    processes.StillRunningError,
    teams.FailedError,
)
"""What can keep the story from being told. Each carries a sentence for whoever started it."""


def run(*, ray_env: Path, plain: bool, json_file: Path | None) -> int:
    """Tell the story on the Ray in `ray_env`.

    Returns the exit code: `report.exit_code`'s; 2 if the story could not be told; 128 and more if a signal ended it.
    """
    with Interruption() as interruption:
        try:
            with closing(choose(sys.stdout, os.environ, plain=plain)) as screen:
                version, records = _tell_all(ray_env, json_file, screen, interruption)
            return _conclude(version, records, json_file)
        except Interrupted as interrupted:
            sys.stderr.write(f"Ended by {interrupted}. Nothing is left running.\n")
            return interrupted.exit_code
        except BrokenPipeError:
            # `holdfast demo | head`: nobody reads any more, and Python must not write once more at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return CANNOT_TELL
        except TROUBLE as error:
            sys.stderr.write(f"holdfast demo: {error}\n")
            return CANNOT_TELL


def _tell_all(
    ray_env: Path, json_file: Path | None, screen: Screen, interruption: Interruption
) -> tuple[str, tuple[Record, Record]]:
    """Ray's version, and what was observed without Holdfast and with it. Everything that was started has ended."""
    _must_be_writable(json_file)
    # Ray keeps unix sockets in it, whose paths may not be long: so not where TMPDIR points.
    work_dir = Path(tempfile.mkdtemp(prefix="holdfast-demo-", dir="/tmp"))
    ray_dir = work_dir / "ray"  # which Ray opens to every user, and work_dir does not
    serve_run = ThreadPoolExecutor(max_workers=1, thread_name_prefix="serve.run")
    try:
        try:
            head = RayHead.start(ray_env, ray_dir, python_path=[APPS], progress=screen.progress)
            return head.version, _tell_twice(head, work_dir, serve_run, screen)
        finally:
            interruption.hold()
            screen.progress("stopping Ray")
    finally:
        processes.end(str(ray_dir))
        serve_run.shutdown()
        shutil.rmtree(work_dir, ignore_errors=True)


def _tell_twice(head: RayHead, work_dir: Path, serve_run: ThreadPoolExecutor, screen: Screen) -> tuple[Record, Record]:
    stage = partial(
        Stage,
        ray_url=head.dashboard_url,
        http_port=head.ports.serve,
        deploy_by_serve_run=lambda application: serve_run.submit(_serve_run, head, application),
    )
    ray = head.dashboard_url
    deploy = partial(teams.with_the_whole_list, ray)
    without = _tell(stage(WITHOUT, holdfast=False, kuberay_url=ray, deploy_over_rest=deploy), screen)
    screen.progress("Serve is shut down, so that the second telling begins like the first")
    teams.shut_serve_down(ray)
    # A proxy whose id is never learnt, because a signal came in the middle of its start, ends with Ray's processes.
    with sidecar(ray, work_dir, environ=processes.owner_environment(str(head.work_dir))) as proxy:
        deploy = partial(teams.by_itself, proxy)
        return without, _tell(stage(WITH, holdfast=True, kuberay_url=proxy, deploy_over_rest=deploy), screen)


def _tell(stage: Stage, screen: Screen) -> Record:
    screen.begin(stage.heading)
    with KubeRay(stage.kuberay_url) as kuberay:
        record = Telling(stage, kuberay, screen).tell(CHAPTERS)
    screen.end()
    return record


def _serve_run(head: RayHead, application: Application) -> str:
    return head.run(APPS / "holdfast_demo.py", json.dumps(application.config()))


def _must_be_writable(json_file: Path | None) -> None:
    if json_file is None:
        return
    try:
        json_file.touch()  # better now than after two minutes
    except OSError as error:
        raise StoryError(f"Cannot write {json_file}: {error.strerror}. Choose another file.") from error


def _conclude(ray_version: str, records: tuple[Record, Record], json_file: Path | None) -> int:
    line = closing_line(*records)
    if json_file is not None:
        json_file.write_text(json.dumps(as_json(ray_version, records, line), indent=2) + "\n")
    sys.stdout.write(f"\n{line}\n")
    sys.stdout.flush()
    return exit_code(records[1])
