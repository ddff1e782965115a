"""One telling of the story, on a running Ray: each step is taken, waited for and watched, and becomes a record."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass

from cli.demo.kuberay import RECONCILE_S, KubeRay, Operator
from cli.demo.observe import is_settled
from cli.demo.report import ChapterRecord, Record
from cli.demo.scene import Row, Scene, operator_line, outcome, rows
from cli.demo.screens import Screen
from cli.demo.story import (
    CAST,
    Application,
    Chapter,
    Declare,
    Deploy,
    DeployLostAgain,
    Made,
    RestartOperator,
    Step,
    serve_config,
)
from cli.demo.teams import FailedError, RefusedError
from cli.demo.watch import LOOK_S, StoryError, Watch
from cli.demo.wire import NoAnswerError

KUBERAY_LOOKS = f"KubeRay looks every {RECONCILE_S:g} s"


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a telling takes place: who is reached where, and how teams deploy."""

    heading: str
    """The telling's title."""
    holdfast: bool
    ray_url: str
    kuberay_url: str
    """Whom KubeRay takes for Ray."""
    http_port: int
    """Where Serve's own HTTP proxy listens."""
    deploy_over_rest: Callable[[Application], None]
    """One of `teams`' ways, with its URL."""
    deploy_by_serve_run: Callable[[Application], Future[str]]
    """Begins it, and does not wait."""
    look_s: float = LOOK_S


class Telling:
    """One telling, in progress. Its thread looks at Ray; the operator has its own, and so has a `serve.run`."""

    def __init__(self, stage: Stage, kuberay: KubeRay, screen: Screen) -> None:
        self._stage = stage
        self._kuberay = kuberay
        self._screen = screen
        self._watch = Watch(stage.ray_url, self._show, stage.look_s)
        self._declared: tuple[Application, ...] = ()
        self._dynamic: dict[str, Application] = {}
        self._retired: frozenset[str] = frozenset()
        self._refused: list[str] = []
        self._chapter = ("", "")

    def tell(self, chapters: Iterable[Chapter]) -> Record:
        """Take all chapters in turn.

        Raises:
            StoryError: a step did not come to its end, or a team was refused.
        """
        records = [self._tell(number, chapter) for number, chapter in enumerate(chapters, 1)]
        return Record(
            holdfast=self._stage.holdfast,
            chapters=tuple(records),
            lost=self._watch.tally.lost,
            restarted=self._watch.tally.restarted,
            unretired=self._unretired(),
            refused=tuple(self._refused),
            stuck=any(record.operator.stuck for record in records),
        )

    def _tell(self, number: int, chapter: Chapter) -> ChapterRecord:
        self._chapter = (f"{number}. {chapter.title}", chapter.sentences(holdfast=self._stage.holdfast))
        before, refused = self._watch.tally, len(self._refused)
        for step in chapter.steps:
            self._take(step)
        self._let_the_operator_look()
        operator = self._kuberay.operator
        result = outcome(
            before,
            self._watch.tally,
            self._watch.sighting,
            operator,
            unretired=self._unretired(),
            refused=self._refused[refused:],
        )
        record = ChapterRecord(chapter.title, result, self._rows(operator), operator)
        self._dwell()
        self._screen.tell(self._chapter[0], result)
        return record

    def _take(self, step: Step) -> None:
        match step:
            case Declare(applications):
                self._declare(applications)
            case RestartOperator():
                self._await_put(self._kuberay.restart, "a new operator starts")
            case Deploy(applications):
                self._deploy(applications)
            case DeployLostAgain():
                gone = [it for name, it in self._dynamic.items() if name not in self._watch.sighting]
                if gone:
                    self._deploy(gone)

    def _declare(self, applications: tuple[Application, ...]) -> None:
        changed = [application for application in applications if application not in self._declared]
        retired = {it.name for it in self._declared} - {it.name for it in applications}
        touched = [*(application.name for application in changed), *sorted(retired)]
        self._retired |= retired
        self._declared = applications
        self._watch.tally = self._watch.tally.owner_acts(*touched)
        self._await_put(lambda: self._kuberay.apply(self._spec()), f"KubeRay is told of {', '.join(touched)}")
        if not self._kuberay.operator.refused:
            self._watch.until(
                lambda: all(map(self._has_arrived, changed)) and all(map(self._is_settled, retired)),
                f"Ray works on {', '.join(touched)}",
            )
        self._watch.tally = self._watch.tally.owner_done(*touched)

    def _deploy(self, applications: Iterable[Application]) -> None:
        applications = tuple(applications)
        names = [application.name for application in applications]
        doing = f"Ray works on {', '.join(names)}"
        self._dynamic |= {application.name: application for application in applications}
        self._watch.tally = self._watch.tally.owner_acts(*names)
        runs = [self._stage.deploy_by_serve_run(it) for it in applications if it.made is Made.SERVE_RUN]
        under_way = [it for it in applications if it.made is Made.SERVE_RUN or self._deploy_over_rest(it)]
        self._watch.until(lambda: any(map(_failed, runs)) or all(map(self._has_arrived, under_way)), doing)
        self._watch.until(lambda: all(map(Future.done, runs)), doing)
        for failed in filter(_failed, runs):
            raise StoryError(f"serve.run failed: {_last_line(failed)}") from failed.exception()
        self._watch.tally = self._watch.tally.owner_done(*names)

    def _deploy_over_rest(self, application: Application) -> bool:
        """Whether it was accepted."""
        self._show(f"the {application.owner} team deploys {application.name}")
        try:
            self._stage.deploy_over_rest(application)
        except RefusedError as refusal:
            self._refused.append(f"{application.name} ({refusal})")
            return False
        except (FailedError, NoAnswerError) as error:
            raise StoryError(f"The {application.owner} team could not deploy {application.name}: {error}") from error
        return True

    def _await_put(self, cause: Callable[[], None], doing: str) -> None:
        began_s = time.monotonic()
        cause()

        def answered() -> bool:
            operator = self._kuberay.operator
            refused = operator.refused and operator.looked_s >= began_s
            return refused or operator.remembered == self._spec()

        self._watch.until(answered, doing)

    def _let_the_operator_look(self) -> None:
        """Until KubeRay has looked at what Ray has come to."""
        settled_s = float("inf")

        def seen() -> bool:
            nonlocal settled_s
            settled = all(map(is_settled, self._watch.sighting.values()))
            settled_s = min(settled_s, time.monotonic()) if settled else float("inf")
            return self._kuberay.operator.looked_s >= settled_s

        self._watch.until(seen, KUBERAY_LOOKS)

    def _dwell(self) -> None:
        if self._screen.dwell_s:
            until = time.monotonic() + self._screen.dwell_s
            self._watch.until(lambda: time.monotonic() >= until, KUBERAY_LOOKS)

    def _has_arrived(self, application: Application) -> bool:
        seen = self._watch.sighting.get(application.name)
        return seen is not None and seen.status == application.lasting_status

    def _is_settled(self, name: str) -> bool:
        return is_settled(self._watch.sighting.get(name))

    def _unretired(self) -> tuple[str, ...]:
        return tuple(name for name in sorted(self._retired) if name in self._watch.sighting)

    def _spec(self) -> str:
        return json.dumps(serve_config(self._declared, self._stage.http_port))

    def _show(self, doing: str) -> None:
        operator = self._kuberay.operator
        self._screen.show(
            Scene(self._stage.heading, *self._chapter, self._rows(operator), operator_line(operator), doing)
        )

    def _rows(self, operator: Operator) -> tuple[Row, ...]:
        return rows(CAST, self._watch.sighting, operator.shown, self._watch.tally, self._retired)


def _failed(run: Future[str]) -> bool:
    return run.done() and run.exception() is not None


def _last_line(run: Future[str]) -> str:
    return (str(run.exception()).strip().splitlines() or ["it did not say why"])[-1]
