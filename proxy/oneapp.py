"""One application at a time: read it, put it, delete it. Nothing else moves.

1. A change goes the way every change goes (``deploying``): it is merged with what runs, one change at a time.
2. ``ETag`` is a digest of the config that Ray stores. ``If-Match`` and ``If-None-Match`` are checked under the lock, so
   of two writers that read the same one, the second is told (412).
3. A web page may read, and sees what Ray would show it; it may not change anything (405), as in Ray.
4. ``?wait=SECONDS`` answers when the application runs or has failed (after a deletion: is gone), or the time is up; the
   answer tells which by ``state``.
5. ``?dry_run=true`` changes nothing and waits for no lock: it tells what would be done now, or refuses as the change
   would be refused. What Ray would say to the config nobody knows before Ray has it.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote

import msgspec

from proxy.bodies import read_config
from proxy.deploying import Deployments, Done, Order
from proxy.http.head import Headers, RequestHead
from proxy.http.local import Answer, Request
from proxy.journal.syncing import Syncing
from proxy.problems import json_answer, problem
from proxy.ray import Ray, passed_on
from proxy.times import utc
from serveconfig import plans
from serveconfig.callers import Caller, first, is_browser
from serveconfig.declared import Declared
from serveconfig.document import Application, ServeConfig, check_text
from serveconfig.errors import ChangedMeanwhileError, NoSuchApplicationError, Refusal
from serveconfig.likeness import fingerprint
from serveconfig.plans import Plan, Situation
from serveconfig.running import Running, RunningApplication, Status

PREFIX = "/-/applications/"
MAX_WAIT_S = 3600.0
POLL_S = 0.5

_NAME = re.compile(r"[ -.0-~]{1,200}")
_QUOTED = re.compile(r"input_value=.*(?=, input_type=\w+\])")
_SETTLED = (Status.RUNNING, Status.DEPLOY_FAILED)


class BrowserError(Refusal):
    """A web page asks for a change."""

    status = 405
    title = "Not for web pages"

    def __init__(self) -> None:
        super().__init__(
            "a request with the marks of a browser (Origin, Referer, Sec-Fetch-*, a User-Agent of Mozilla) may change "
            "nothing, as in Ray itself. Use holdfast, curl or a client library."
        )


class BadParameterError(Refusal):
    """A query parameter or a name in the path that cannot be read."""

    title = "Bad parameter"


@dataclass(frozen=True, slots=True)
class OneApplication:
    """Answers ``/-/applications/`` and what is below it."""

    deployments: Deployments
    syncing: Syncing

    async def list(self, ray: Ray, request: Request) -> Answer:
        """Every application that Ray shows."""
        running = await self._read(ray, request.head)
        shown = [self._shown(app, request.head) for app in running.applications.values()]
        return json_answer({"applications": shown})

    async def get(self, ray: Ray, request: Request) -> Answer:
        """One application, with its config.

        Raises:
            NoSuchApplicationError: there is none of that name.
        """
        name, until = _name(request.head), _deadline(request.head)
        running = await self._read(ray, request.head)
        while (app := running.applications.get(name)) and app.status not in _SETTLED and time.monotonic() < until:
            await asyncio.sleep(POLL_S)
            running = await self._read(ray, request.head)
        if app is None:
            raise NoSuchApplicationError(name)
        return self._answer(app, request.head)

    async def put(self, ray: Ray, request: Request) -> Answer:
        """Add or replace one application; the body is its config, with or without its name.

        Raises:
            BrowserError, ChangedMeanwhileError, a config that cannot be read, and every refusal of ``plans.upsert``.
        """
        head = request.head
        name, until = _name(head), _deadline(head)
        _refuse_browsers(head)
        body = await read_config(request, self.deployments.settings.max_config_bytes)
        check_text(body)
        asked = ServeConfig({}, (Application.parse(body).named(name),))

        def plan(now: Situation) -> Plan:
            _check_preconditions(head, name, now.running.here(name))
            return plans.upsert(asked, now)

        if _is_dry_run(head):
            return await self._rehearse(ray, head, name, plan)
        done = await self._carry_out(ray, head, (name, hashlib.sha256(body).digest()), plan)
        if not done.accepted and done.answer:
            return _refused_by_ray(done.answer)
        app = await self._poll(ray, head, name, until, lambda app: app is not None and app.status in _SETTLED)
        if app is None:
            answer = json_answer({"name": name, "state": None}, HTTPStatus.ACCEPTED)
            return await self.syncing.marked(answer, [name], are_put=True)
        answer = self._answer(app, head, HTTPStatus.CREATED if name in done.plan.created else HTTPStatus.OK)
        return await self.syncing.marked(answer, [name], are_put=True)

    async def delete(self, ray: Ray, request: Request) -> Answer:
        """Delete one application: 204 where it is gone by now, 202 where it is on its way.

        One that is still to be carried over is taken out of the journal.

        Raises:
            BrowserError, ChangedMeanwhileError, and every refusal of ``plans.delete``.
        """
        head = request.head
        name, until = _name(head), _deadline(head)
        _refuse_browsers(head)

        def plan(now: Situation) -> Plan:
            _check_preconditions(head, name, now.running.here(name))
            return plans.delete(name, now)

        if _is_dry_run(head):
            return await self._rehearse(ray, head, name, plan)
        try:
            done = await self._carry_out(ray, head, (name,), plan)
        except NoSuchApplicationError:
            if not self.deployments.observer.forgot(name):
                raise
            return await self.syncing.marked(Answer(HTTPStatus.NO_CONTENT, ()), [name])
        if not done.accepted and done.answer:
            return _refused_by_ray(done.answer)
        app = await self._poll(ray, head, name, until, lambda app: app is None)
        return await self.syncing.marked(Answer(HTTPStatus.ACCEPTED if app else HTTPStatus.NO_CONTENT, ()), [name])

    async def _rehearse(self, ray: Ray, head: RequestHead, name: str, plan: Callable[[Situation], Plan]) -> Answer:
        """What would be done now: rule 5."""
        reading = ray.as_caller(head.headers)
        running = await self.deployments.look(ray, reading)
        would = _would(plan(self.deployments.situation(running, await ray.version(reading))), name)
        return json_answer({"name": name, "dry_run": True, "would": would})

    async def _carry_out(
        self, ray: Ray, head: RequestHead, what: tuple[object, ...], plan: Callable[[Situation], Plan]
    ) -> Done:
        conditions = (head.first(b"if-match"), head.first(b"if-none-match"))
        headers = (*ray.as_caller(head.headers), (b"Content-Type", b"application/json"))
        key = (ray, head.method, *what, conditions, headers)
        return await self.deployments.carry_out(Order(plan, Caller.OTHER, key, headers, ray))

    async def _poll(
        self, ray: Ray, head: RequestHead, name: str, until: float, enough: Callable[[RunningApplication | None], bool]
    ) -> RunningApplication | None:
        """The application when ``enough`` holds of it, or as it is when the time is up."""
        while True:
            app = (await self._read(ray, head)).applications.get(name)
            if enough(app) or time.monotonic() >= until:
                return app
            await asyncio.sleep(POLL_S)

    async def _read(self, ray: Ray, head: RequestHead) -> Running:
        """What runs, as the caller may see it: Ray hides environment variables from web pages."""
        return await ray.running(passed_on(head.headers) if _is_browser(head) else ray.as_caller(head.headers))

    def _answer(self, app: RunningApplication, head: RequestHead, status: int = HTTPStatus.OK) -> Answer:
        shown = self._shown(app, head)
        config = msgspec.Raw(app.config.raw) if app.config else None
        etag = shown["etag"]
        headers: Headers = ((b"ETag", etag.encode()),) if isinstance(etag, str) else ()
        return json_answer({**shown, "config": config}, status, headers)

    def _shown(self, app: RunningApplication, head: RequestHead) -> dict[str, object]:
        return {
            "name": app.name,
            "owner": owner(app.name, self.deployments.record.declared),
            "origin": app.origin,
            "state": app.status,
            "message": app.message,
            "route_prefix": app.route_prefix,
            "deployed_at": utc(app.deployed_at),
            "etag": None if _is_browser(head) else etag(app),
        }


def owner(name: str, declared: Declared) -> str:
    """Whose application it is: ``kuberay``, ``dynamic``, or ``unknown`` while nobody knows what KubeRay declares."""
    if declared.config is None:
        return "unknown"
    return "kuberay" if name in declared.names else "dynamic"


def etag(app: RunningApplication) -> str | None:
    """A strong entity tag of the stored config; None for an application without one."""
    return f'"{fingerprint(app.config.raw)[:32]}"' if app.config else None


def _check_preconditions(head: RequestHead, name: str, app: RunningApplication | None) -> None:
    """RFC 9110, 13.1: strong comparison for If-Match; ``*`` stands for any application that exists."""
    tag = etag(app) if app else None
    wanted, unwanted = _tags(head, b"if-match"), _tags(head, b"if-none-match")
    if wanted and not (app and ("*" in wanted or tag in wanted)):
        raise ChangedMeanwhileError(name)
    if unwanted and app and ("*" in unwanted or tag in unwanted):
        raise ChangedMeanwhileError(name)


def _tags(head: RequestHead, name: bytes) -> set[str]:
    return {tag.strip() for value in head.all(name) for tag in value.decode("latin-1").split(",")}


def _name(head: RequestHead) -> str:
    name = unquote(head.path.removeprefix(PREFIX))
    if not _NAME.fullmatch(name):
        raise BadParameterError("the name in the path is empty, longer than 200 characters, not ASCII, or has a '/'.")
    return name


def _is_dry_run(head: RequestHead) -> bool:
    text = first(head.query.decode("latin-1"), "dry_run") or "false"
    if text not in {"true", "false"}:
        raise BadParameterError("dry_run is neither true nor false.")
    return text == "true"


def _would(plan: Plan, name: str) -> str:
    if plan.body is None:
        return "nothing"
    if name in plan.retired:
        return "delete"
    return "create" if name in plan.created else "change"


def _deadline(head: RequestHead) -> float:
    """Until when to wait, by the monotonic clock."""
    text = first(head.query.decode("latin-1"), "wait") or "0"
    try:
        wait_s = float(text)
    except ValueError:
        wait_s = -1.0
    if not 0 <= wait_s <= MAX_WAIT_S:
        raise BadParameterError(f"wait is not a number of seconds from 0 to {MAX_WAIT_S:g}.")
    return time.monotonic() + wait_s


def _is_browser(head: RequestHead) -> bool:
    agent = (head.first(b"user-agent") or b"").decode("latin-1")
    return is_browser((name.decode("latin-1").lower() for name, _ in head.headers), agent)


def _refuse_browsers(head: RequestHead) -> None:
    if _is_browser(head):
        raise BrowserError


def _refused_by_ray(answer: Answer) -> Answer:
    """Ray's words as a problem, without the values that Ray 2.60 (pydantic 2) quotes in them."""
    said = _QUOTED.sub("input_value=...", b"".join(answer.body)[:8192].decode(errors="replace"))
    return problem(answer.status, "Ray refused the config", said or "Ray gave no reason.")
