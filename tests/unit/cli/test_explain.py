"""`holdfast explain` as a person runs it: the real proxy before a fake Ray, an API server with Events and journal."""

import base64
import json
from datetime import UTC, datetime

import msgspec
import pytest

from cli.main import main
from serveconfig.journal import DELETED, Change, Changes
from tests.unit.cli.sidecar_double import Head
from webhook.events import About, event
from webhook.journal.document import Journal
from webhook.journal.packing import pack
from webhook.journal.store import _secret, secret_name
from webhook.ledger import Entry
from webhook.notices import Notice, Reason

ABOUT = About("team", "shop", "u1")
SECRETS = "/api/v1/namespaces/team/secrets"
EVENTS = "/api/v1/namespaces/team/events"
STATES = {"DEPLOYING", "RUNNING"}


@pytest.fixture
def cluster(head):
    """A RayService with a journal that knows of a deletion, and an Event."""
    head.has_rayservice(metadata={"uid": "u1"})
    head.has_head()
    put = Change("old", msgspec.Raw(b'{"name": "old"}'))
    journal, _ = Journal.new().taking(Changes(changes=(put,)), "shop-abcde", 1764590400)
    journal, _ = journal.taking(Changes(changes=(Change("old", DELETED, 1),)), "shop-abcde", 1764594000)
    keep(head, pack(journal, secret_name("shop"), None).head)
    told = event(ABOUT, Notice(Reason.PUT_BACK_APPLICATIONS, "put back 'fruit'"), Entry("e1", 0, 1), 1764590400)
    head.kubernetes.put(f"{EVENTS}/e1", told)
    return head


def keep(head: Head, content: bytes) -> None:
    head.kubernetes.put(f"{SECRETS}/{secret_name('shop')}", _secret(ABOUT, secret_name("shop"), content))


@pytest.fixture
def explain(head, capsys):
    def explain(*arguments, way=None):
        code = main(["explain", *arguments, *(way or ["-n", "team", "--kubeconfig", head.config()])])
        said = capsys.readouterr()
        return code, said.out, said.err

    return explain


@pytest.mark.usefixtures("cluster")
def test_an_application_that_was_deleted_has_its_story(explain):
    code, out, _ = explain("old")

    assert (code, out.splitlines()[0]) == (0, "old of RayService team/shop: does not run")
    at = datetime.fromtimestamp(1764594000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert any(line.startswith(at) and "It was deleted on cluster shop-abcde" in line for line in out.splitlines())


@pytest.mark.usefixtures("cluster")
def test_a_declared_one_has_what_was_told_of_it_and_the_json_has_the_same(explain):
    code, out, _ = explain("fruit", "-o", "json")
    told = json.loads(out)

    assert (code, told["state"] in STATES, told["of"]) == (0, True, "RayService team/shop")
    assert "PutBackApplications: put back 'fruit'" in [each["what"] for each in told["happened"]]
    assert told["next"] == ["KubeRay keeps it as spec.serveConfigV2 of the RayService has it: change it there."]


@pytest.mark.usefixtures("cluster")
def test_nobody_knows_it_and_what_is_close_is_named(explain):
    assert explain("fruits") == (
        1,
        "",
        "holdfast explain: nobody knows an application fruits of RayService team/shop; it has fruit.\n",
    )
    assert explain("x" * 20)[2].endswith("of RayService team/shop.\n")


def test_g12_what_may_not_be_read_is_named_and_the_rest_is_told(cluster, explain):
    cluster.kubernetes.refuse = {("GET", EVENTS): 403, ("GET", f"{SECRETS}/{secret_name('shop')}"): 403}

    code, out, _ = explain("fruit")

    assert code == 0
    assert "Not read: its Events (" in out
    assert "Not read: its journal (" in out


def test_a_journal_that_cannot_be_read_is_named_and_left_as_it_is(cluster, explain):
    keep(cluster, b"nonsense")

    code, out, _ = explain("fruit")

    assert (code, "Not read: its journal (its content cannot be read)." in out) == (0, True)
    kept = cluster.kubernetes.objects[f"{SECRETS}/{secret_name('shop')}"]["data"]["journal"]
    assert base64.b64decode(kept) == b"nonsense"


def test_without_kubernetes_the_sidecar_alone_is_asked(head, explain):
    code, out, _ = explain("fruit", way=["--url", head.url])

    assert code == 0
    assert out.splitlines()[0] in {f"fruit of the head at this URL: {state} at /fruit" for state in STATES}
    assert "Not read: RayService, Events and journal: --url." in out
