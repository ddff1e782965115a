"""The Serve path: KubeRay's GET filtered and KubeRay's PUT merged, at growing numbers of applications.

Before a contender is timed its answer is checked: whom KubeRay sees, and what Ray was told. A wrong answer of a peer
is noted in the table (it is part of the comparison); one of Holdfast's ends the run, for its times would mean nothing.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tests.perf import bodies
from tests.perf.client import PERSON, Connection, UnexpectedAnswerError, request, serve_get, serve_put
from tests.perf.contenders import DIRECT, HOLDFAST, LUA, MITMPROXY, NAIVE, NGINX, Ground, Started, started
from tests.perf.measuring import Load, Outcome, WrongAnswerError, interleave

STATIC_IN_MERGE = 3
AFTER_PUT_S = 0.02


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question put to several contenders; ``apps`` is how many applications run, where that matters."""

    title: str
    outcomes: tuple[Outcome, ...]
    apps: int | None = None

    def of(self, contender: str) -> Outcome | None:
        """That contender's outcome, if it took part and did not fail."""
        return next((each for each in self.outcomes if each.contender == contender and each.rounds), None)


def small_requests(ground: Ground, load: Load) -> list[Comparison]:
    """A request that only passes, and KubeRay's GET of three applications of which it declared two."""
    version = [request("GET", "/api/version", agent=PERSON)]
    with started(ground, [DIRECT, HOLDFAST, NGINX, MITMPROXY, NAIVE]) as contenders:
        passed = Comparison("small GET, passed through (/api/version)", tuple(interleave(contenders, version, load)))
    with started(ground, [DIRECT, HOLDFAST, LUA, MITMPROXY]) as contenders:
        filtered = filter_of(ground, contenders, bodies.names("static", 2), bodies.names("dynamic", 1), load)
    return [passed, Comparison("KubeRay's GET, 3 applications of which 2 are declared", filtered)]


def get_filter(ground: Ground, loads: dict[int, Load], *, all_declared: bool) -> list[Comparison]:
    """KubeRay's GET; of the applications half are its own, or all."""
    title = "KubeRay's GET, all declared" if all_declared else "KubeRay's GET, half of them dynamic"
    found = []
    with started(ground, [DIRECT, HOLDFAST, LUA, MITMPROXY]) as contenders:
        for apps, load in loads.items():
            static = bodies.names("static", apps if all_declared else apps // 2)
            dynamic = bodies.names("dynamic", apps - len(static))
            found.append(Comparison(title, filter_of(ground, contenders, static, dynamic, load), apps))
    return found


def put_merge(ground: Ground, loads: dict[int, Load], *, declared: int | None = STATIC_IN_MERGE) -> list[Comparison]:
    """KubeRay's PUT of ``declared`` changed applications, or of as many as must be kept (None).

    Holdfast looks at Ray once more after it has answered: hence a pause after each PUT, as long for every contender.
    """
    title = f"KubeRay's PUT of {declared or 'as many'} applications, beside those that are kept"
    found = []
    with started(ground, [DIRECT, HOLDFAST, LUA, MITMPROXY]) as contenders:
        for kept, load in loads.items():
            static, dynamic = bodies.names("static", declared or kept), bodies.names("dynamic", kept)
            run(ground, static + dynamic)
            notes = {each.name: merge_note(ground, each, static, dynamic) for each in contenders}
            puts = [serve_put(bodies.declaration(*static, revision=revision)) for revision in (1, 2)]
            pause_s = AFTER_PUT_S + (len(static) + kept) / 40_000
            outcomes = tuple(interleave(contenders, puts, replace(load, pause_s=pause_s), notes))
            found.append(Comparison(title, outcomes, kept))
    return found


def filter_of(
    ground: Ground, contenders: list[Started], static: list[str], dynamic: list[str], load: Load
) -> tuple[Outcome, ...]:
    """Declare ``static`` at every contender, check what KubeRay then sees, and time it."""
    run(ground, static + dynamic)
    notes = {}
    for contender in contenders:
        ask(contender.port, serve_put(bodies.declaration(*static)))
        seen = json.loads(ask(contender.port, serve_get()))["applications"]
        problem = _difference("shown", seen, static)
        notes[contender.name] = "does not filter" if contender.name == DIRECT else _judged(contender, problem)
    return tuple(interleave(contenders, [serve_get()], load, notes))


def merge_note(ground: Ground, contender: Started, static: list[str], dynamic: list[str]) -> str:
    """What the contender makes of one PUT: whom it names to Ray, and whether the kept configs stayed what they were."""
    before = asked(ground)
    ask(contender.port, serve_put(bodies.declaration(*static, revision=3)))
    time.sleep(AFTER_PUT_S + len(dynamic) / 20_000)
    calls = asked(ground)
    told = json.loads(ask(ground.upstream_port, request("GET", "/perf/last-put", agent=PERSON)))["applications"]
    if contender.name == DIRECT:
        return "deletes the others"
    problem = _difference("kept", (each["name"] for each in told), static + dynamic)
    kept = next(each for each in told if each["name"] == dynamic[0])
    altered = bodies.changes(bodies.config(dynamic[0]), kept)
    if altered and not problem:
        problem = f"alters kept configs: {altered[0]}" + (f", and {len(altered) - 1} more" if altered[1:] else "")
    gets = calls.get("GET " + SERVE_PATH, 0) - before.get("GET " + SERVE_PATH, 0)
    return _judged(contender, problem) or f"{gets} GET + 1 PUT of Ray"


SERVE_PATH = "/api/serve/applications/"


def run(ground: Ground, names: list[str]) -> None:
    """Let these applications, and no others, run behind the stand-in."""
    ask(ground.upstream_port, request("PUT", "/perf/running", agent=PERSON, body=bodies.running(*names)))


def ask(port: int, wanted: bytes) -> bytes:
    """One request on a connection of its own; raises WrongAnswerError unless it is answered 200."""
    try:
        with Connection(port) as connection:
            answer = connection.ask(wanted)
    except (OSError, UnexpectedAnswerError) as error:
        raise WrongAnswerError(f"port {port}: {error}") from error
    if answer.status != 200:
        raise WrongAnswerError(f"port {port} answered {answer.status}: {bytes(answer.body[:500])!r}")
    return bytes(answer.body)


def asked(ground: Ground) -> dict[str, int]:
    """How often each method and path was asked of the stand-in."""
    return json.loads(ask(ground.upstream_port, request("GET", "/perf/seen", agent=PERSON)))


def _difference(verb: str, found: Iterable[str], wanted: Iterable[str]) -> str:
    found, wanted = set(found), set(wanted)
    missing, extra = len(wanted - found), len(found - wanted)
    return f"WRONG: {missing} not {verb}, {extra} {verb} that should not be" if missing or extra else ""


def _judged(contender: Started, problem: str) -> str:
    if problem and contender.name == HOLDFAST:
        raise WrongAnswerError(f"holdfast: {problem}")
    return problem
