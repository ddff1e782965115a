"""What a request must become so that it deletes, restarts and reconfigures nothing its sender does not own.

A PUT replaces the whole config: Ray deletes every declarative application it does not name. So:

1. KubeRay's PUT: its own applications as it sends them, then every declarative application that runs and that it
   neither names now nor named before. What it named before and does not name now is retired: left out.
2. Anyone else's PUT: everything that runs, with the named ones put in or replaced. Declared names are refused.
3. A deletion: everything that runs but the one.
4. The top-level options are KubeRay's alone: every PUT repeats its last ones, as Ray does not show them all (facts:
   section 4).
5. Refused rather than guessed: two claims on one route prefix; a declarative application whose config Ray does not
   show; on Ray before 2.11 anything that would delete applications of ``serve.run``.
6. What changes nothing is not sent: ``Plan.body`` is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from serveconfig.declared import Declared
from serveconfig.document import Application, ServeConfig
from serveconfig.errors import (
    DeclaredByKubeRayError,
    ImperativeError,
    NoSuchApplicationError,
    RouteTakenError,
    UnknownStateError,
    WouldDeleteImperativeError,
)
from serveconfig.likeness import is_unchanged, same_options
from serveconfig.rayversion import RayVersion
from serveconfig.running import Origin, Running, RunningApplication


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a plan depends on.

    ``allow_loss`` overrides the refusal for Ray before 2.11. ``dropped`` are applications whose deletion Ray has
    accepted and may have lost sight of, with the time up to which each counts as the same (see ``proxy.leftovers``).
    ``journaled`` gives the config of a dynamic application, should Ray not show it, or None.
    """

    running: Running
    declared: Declared
    ray: RayVersion
    allow_loss: bool = False
    dropped: Mapping[str, float] = field(default_factory=dict)
    journaled: Callable[[str], Application | None] = lambda _: None

    @property
    def applications(self) -> list[RunningApplication]:
        """What runs: neither what is being deleted nor what is left over of a deletion."""
        return [app for app in self.running.applications.values() if self.here(app.name)]

    def here(self, name: str) -> RunningApplication | None:
        """The application of that name, if it runs."""
        app = self.running.here(name)
        return None if app is None or is_left_over(app, self.dropped) else app


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. All names are of applications.

    ``sent`` is what the caller asked for; ``body`` what Ray gets, or None where nothing changes. ``kept`` would have
    been deleted by the request as it came, ``retired`` will be deleted as asked, ``taken_over`` were made by
    ``serve.run`` and become declarative (their replicas are replaced), ``created`` did not run before.
    """

    sent: ServeConfig
    body: bytes | None
    kept: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    taken_over: tuple[str, ...] = ()
    created: tuple[str, ...] = ()


def declare(asked: ServeConfig, now: Situation) -> Plan:
    """KubeRay's PUT.

    Raises:
        RouteTakenError: a declared application claims the route prefix of one that keeps running.
        UnknownStateError: Ray does not show the config of an application that must be kept.
        WouldDeleteImperativeError: rule 5.
    """
    ours = asked.names | now.declared.retirable
    staying = [app for app in now.applications if app.name not in asked.names and not _is_retired(app, ours)]
    kept = [app for app in staying if app.is_kept_by_naming]
    retired = tuple(app.name for app in now.applications if app.name not in asked.names and _is_retired(app, ours))
    if not retired and _changes_nothing(asked, now):
        return Plan(asked, None, kept=_names(kept))
    _check_routes(asked, {app.name: app.route_prefix for app in staying}, now)
    _check_loss(asked.names, now)
    merged = ServeConfig(asked.options, (*asked.applications, *(_config(app, now) for app in kept)))
    return Plan(
        asked,
        merged.print(),
        kept=_names(kept),
        retired=retired,
        taken_over=_taken_over(asked, now),
        created=tuple(name for name in asked.names if now.here(name) is None),
    )


def upsert(asked: ServeConfig, now: Situation) -> Plan:
    """A PUT by anyone else: adds or replaces what it names, touches nothing else.

    Raises:
        DeclaredByKubeRayError: it names a declared application.
        RouteTakenError, UnknownStateError, WouldDeleteImperativeError: as above.
    """
    if claimed := sorted(asked.names & now.declared.names):
        raise DeclaredByKubeRayError(claimed)
    if all(is_unchanged(application, now.running, now.declared.receipts) for application in asked.applications):
        return Plan(asked, None)
    others = _all_but(asked.names, now)
    unnamed = {app.name: app.route_prefix for app in now.applications if app.name not in asked.names}
    _check_routes(asked, {**{other.name: other.route_prefix for other in others}, **unnamed}, now)
    _check_loss(asked.names, now)
    merged = ServeConfig(_options(asked, now), (*others, *asked.applications))
    created = tuple(name for name in asked.names if now.here(name) is None)
    return Plan(asked, merged.print(), taken_over=_taken_over(asked, now), created=created)


def delete(name: str, now: Situation) -> Plan:
    """The deletion of one dynamic application.

    Raises:
        DeclaredByKubeRayError: it is declared.
        NoSuchApplicationError: it does not run, or is being deleted.
        ImperativeError: ``serve.run`` made it, and only ``serve.delete`` deletes it.
        UnknownStateError, WouldDeleteImperativeError: as above.
    """
    if name in now.declared.names:
        raise DeclaredByKubeRayError([name])
    app = now.here(name)
    if app is None:
        raise NoSuchApplicationError(name)
    if not app.is_kept_by_naming:
        raise ImperativeError(name)
    _check_loss(frozenset({name}), now)
    nothing = ServeConfig({}, ())
    rest = ServeConfig(_options(nothing, now), _all_but(frozenset({name}), now))
    return Plan(nothing, rest.print(), retired=(name,))


def drop(names: frozenset[str], now: Situation) -> Plan:
    """A deletion again: of what its owner deleted and Ray runs on all the same, without a config.

    Raises:
        UnknownStateError, WouldDeleteImperativeError: as above.
    """
    nothing = ServeConfig({}, ())
    back = tuple(name for name in names if (app := now.running.here(name)) and is_left_over(app, now.dropped))
    if not back:
        return Plan(nothing, None)
    _check_loss(names, now)
    return Plan(nothing, ServeConfig(_options(nothing, now), _all_but(names, now)).print(), retired=back)


def bring(asked: ServeConfig, dropping: frozenset[str], now: Situation) -> Plan:
    """What another cluster of the RayService has: ``asked`` is put here too, ``dropping`` was deleted there.

    Raises:
        RouteTakenError, UnknownStateError, WouldDeleteImperativeError: as above.
    """
    declared = now.declared.names
    wanted = ServeConfig({}, tuple(each for each in asked.applications if each.name not in declared))
    gone = tuple(
        app.name
        for app in now.applications
        if app.name in dropping and app.is_kept_by_naming and app.name not in (declared | wanted.names)
    )
    if not gone:
        return upsert(wanted, now)
    touched = wanted.names.union(gone)
    others = _all_but(touched, now)
    _check_routes(wanted, {other.name: other.route_prefix for other in others}, now)
    _check_loss(touched, now)
    merged = ServeConfig(_options(wanted, now), (*others, *wanted.applications))
    created = tuple(name for name in wanted.names if now.here(name) is None)
    return Plan(wanted, merged.print(), retired=gone, taken_over=_taken_over(wanted, now), created=created)


def repeat(now: Situation) -> Plan:
    """What runs, named as it is, and nothing else: does Ray take that? Not sent where there is nothing to name.

    Raises:
        UnknownStateError, WouldDeleteImperativeError: as above.
    """
    nothing = ServeConfig({}, ())
    kept = _all_but(frozenset(), now)
    if not kept:
        return Plan(nothing, None)
    _check_loss(frozenset(), now)
    return Plan(nothing, ServeConfig(_options(nothing, now), kept).print())


def is_left_over(app: RunningApplication, dropped: Mapping[str, float]) -> bool:
    """Does it run on after its deletion? Then Ray has no config of it, and nobody has deployed it anew since."""
    until = dropped.get(app.name)
    return app.config is None and not app.is_deleting and until is not None and app.deployed_at <= until


def _is_retired(app: RunningApplication, ours: frozenset[str]) -> bool:
    """A declared application that ``serve.run`` has replaced since is nobody's to retire by a PUT."""
    return app.name in ours and app.is_kept_by_naming


def _changes_nothing(asked: ServeConfig, now: Situation) -> bool:
    last = now.declared.config.options if now.declared.config else now.running.options
    return (
        now.running.has_controller
        and same_options(asked.options, last)
        and all(is_unchanged(application, now.running, now.declared.receipts) for application in asked.applications)
    )


def _all_but(names: frozenset[str], now: Situation) -> tuple[Application, ...]:
    """Everything a PUT must name to leave it alone.

    A declared application that Ray does not show (a first PUT takes Ray 1-3 s to show) is named as KubeRay sent it.
    """
    kept = [_config(app, now) for app in now.applications if app.is_kept_by_naming and app.name not in names]
    declared = now.declared.config.applications if now.declared.config else ()
    unseen = [app for app in declared if app.name not in names and app.name not in now.running.applications]
    return (*unseen, *kept)


def _options(asked: ServeConfig, now: Situation) -> Mapping[str, bytes]:
    if now.declared.config:
        return now.declared.config.options
    return {**asked.options, **now.running.options}


def _config(app: RunningApplication, now: Situation) -> Application:
    config = app.config or now.journaled(app.name)
    if config is None:
        raise UnknownStateError(
            f"Ray runs application {app.name!r} from a config that it does not show, and a PUT without that config "
            "would delete the application. Try again in a few seconds; if it stays so, "
            f"serve.delete({app.name!r}) removes it."
        )
    return config


def _check_routes(asked: ServeConfig, held: Mapping[str, str | None], now: Situation) -> None:
    """An application that has its route already is not refused: two of one prefix were there before us."""
    holders = {route: name for name, route in held.items() if route is not None}
    for application in asked.applications:
        app = now.here(application.name)
        route = application.route_prefix
        if route in holders and not (app and app.route_prefix == route):
            raise RouteTakenError(route, application.name, holders[route])


def _check_loss(named: frozenset[str], now: Situation) -> None:
    if now.ray.keeps_imperative or now.allow_loss:
        return
    lost = [app.name for app in now.applications if not app.is_kept_by_naming and app.name not in named]
    if lost:
        raise WouldDeleteImperativeError(lost, now.ray.text)


def _taken_over(asked: ServeConfig, now: Situation) -> tuple[str, ...]:
    apps = (now.here(application.name) for application in asked.applications)
    return tuple(app.name for app in apps if app and app.origin is Origin.IMPERATIVE)


def _names(apps: Iterable[RunningApplication]) -> tuple[str, ...]:
    return tuple(app.name for app in apps)
