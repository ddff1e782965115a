"""The story of an application: what it is, what happened to it, what will. Pure.

1. A sentence has a time where one is known. Times are those of the parts that wrote them down: Ray's, the webhook's.
2. What comes next is told for what people fear: a PUT of KubeRay, a head that is lost, an upgrade.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from cli.explain.facts import Facts, moment

_ORIGINS = {
    "declarative": "Its config came by a PUT",
    "imperative": "serve.run made it",
    "unknown": "Ray does not say how it was made",
}
_FAILED = "DEPLOY_FAILED"


@dataclass(frozen=True, slots=True)
class Sentence:
    """``at`` is None where the time is not known."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """What it is; what happened, the oldest first; what comes next."""

    state: str
    is_so: tuple[Sentence, ...]
    happened: tuple[Sentence, ...]
    comes: tuple[Sentence, ...]


def story(facts: Facts) -> Story:
    """The story of an application that somebody knows (``Facts.is_known``)."""
    happened = sorted(_happened(facts), key=lambda each: each.at.timestamp() if each.at else 0.0)
    state = str(facts.app["state"]) if facts.runs else "does not run"
    return Story(state, tuple(_is_so(facts)), tuple(happened), tuple(_comes(facts)))


def _is_so(facts: Facts) -> Iterator[Sentence]:
    app = facts.app
    if facts.runs:
        whose = {
            "kuberay": "the RayService declares it",
            "dynamic": "the RayService does not declare it",
        }.get(app["owner"], "what the RayService declares is not known yet")
        yield Sentence(f"{_ORIGINS.get(app['origin'], _ORIGINS['unknown'])}; {whose}.")
        if app.get("message"):
            yield Sentence(f"Ray says: {' '.join(app['message'].split())}")
    if app.get("owner") == "kuberay" and facts.ownership and facts.ownership.is_dynamic(facts.name):
        yield Sentence(f"The RayService marks it as dynamic; it is {facts.ownership.owner(facts.name)}'s to drop.")
    yield from (Sentence(f"Not read: {each}.") for each in facts.unread)


def _happened(facts: Facts) -> Iterator[Sentence]:
    journal, name = facts.journal, facts.name
    if journal and (entry := journal.entries.get(name)):
        where = f"revision {entry.revision} of the journal"
        yield Sentence(f"Its config was put on cluster {entry.by} ({where}).", moment(entry.at))
    if journal and name in journal.deleted:
        deletion = journal.deletions.get(name)
        where = f"revision {journal.deleted[name]} of the journal"
        on = f" on cluster {deletion.by}" if deletion else ""
        yield Sentence(f"It was deleted{on} ({where}).", moment(deletion.at) if deletion else None)
    if carried := facts.app.get("carried_over"):
        at = datetime.fromisoformat(carried["at"]) if carried.get("at") else None
        yield Sentence(f"It was carried over from cluster {carried['from']}.", at)
    if deployed := facts.app.get("deployed_at"):
        yield Sentence("Ray was given it for the last time.", datetime.fromisoformat(deployed))
    for told in facts.events:
        again = f" ({told.times} times)" if told.times > 1 else ""
        yield Sentence(f"{told.reason}{again}: {told.message}", told.at)


def _comes(facts: Facts) -> Iterator[Sentence]:
    if not facts.runs:
        yield from _comes_of_one_that_does_not_run(facts)
        return
    app = facts.app
    if app["state"] == _FAILED and app["owner"] != "kuberay":
        yield Sentence("KubeRay is not shown it, so its failure holds nobody up. Put it again, mended.")
    if app["owner"] == "kuberay":
        yield from _comes_of_a_declared_one(facts)
    elif app["origin"] == "imperative":
        yield Sentence(
            "No PUT can name it. Ray 2.11 and newer keep it in every PUT; on older ones Holdfast refuses a PUT that "
            "would delete it."
        )
        yield Sentence(
            "A head that is lost takes it along, and a new cluster does not have it: Ray has no config of it. Deployed "
            "over REST (holdfast apps apply) it would come along."
        )
    else:
        yield Sentence("Every PUT of KubeRay keeps it. `holdfast apps delete` or serve.delete deletes it.")
        yield from _comes_by_the_journal(facts)


def _comes_by_the_journal(facts: Facts) -> Iterator[Sentence]:
    match facts.app.get("journal"):
        case "written":
            yield Sentence("The journal has it: a new head and a new cluster get it, too.")
        case "queued":
            yield Sentence("The journal does not have it yet; the sidecar keeps the change until it does.")
        case _:
            yield Sentence(
                "No journal has it: a head that is lost takes it along, unless its GCS is fault tolerant, and a new "
                "cluster does not have it."
            )


def _comes_of_a_declared_one(facts: Facts) -> Iterator[Sentence]:
    if facts.ownership and facts.ownership.is_dynamic(facts.name):
        yield Sentence("An update of the RayService by anybody else keeps it. A new cluster gets it as declared.")
        yield Sentence("KubeRay waits neither for it nor because of it.")
        return
    yield Sentence("KubeRay keeps it as spec.serveConfigV2 of the RayService has it: change it there.")


def _comes_of_one_that_does_not_run(facts: Facts) -> Iterator[Sentence]:
    if facts.app.get("owner") == "kuberay":
        yield Sentence("The RayService declares it, and Ray does not show it: KubeRay's next PUT names it.")
    elif facts.app.get("origin") == "imperative" or _was_lost_with_serve_run(facts):
        yield Sentence("serve.run had made it, so Ray had no config to carry over. Deploy it again.")
    elif why := facts.app.get("not_carried"):
        yield Sentence(
            f"It was not brought here: {why}. It stays in the journal: put it again, mended, or delete it "
            f"(holdfast apps delete {facts.name})."
        )
    elif facts.journal and facts.name in facts.journal.entries:
        yield Sentence("The journal has it: it is brought here once everything that is declared is there.")
    elif facts.journal and facts.name in facts.journal.deleted:
        yield Sentence("It stays deleted.")
    else:
        yield Sentence("Nobody has its config: it does not come back by itself.")


def _was_lost_with_serve_run(facts: Facts) -> bool:
    journal = facts.journal
    is_told_of = journal is not None and (facts.name in journal.entries or facts.name in journal.deleted)
    return facts.was_made_by_serve_run and not is_told_of
