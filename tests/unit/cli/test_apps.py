"""`holdfast apps` as a person runs it: against the real proxy before a fake Ray, straight and through an API server."""

import json
import re

import pytest
import yaml

from cli.apps import waiting
from cli.main import main
from tests.unit.cli.sidecar_double import PODS, RAYSERVICES, Head

MODEL = {"name": "model", "route_prefix": "/model", "import_path": "served:echo", "args": {"rate": 1.0}}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(waiting, "POLL_S", 0.02)


@pytest.fixture
def apps(head, capsys):
    """Run a verb; (exit code, standard output, standard error)."""

    def apps(verb, *arguments, way=None):
        code = main(["apps", verb, *arguments, *(way or ["--url", head.url])])
        said = capsys.readouterr()
        return code, said.out, said.err

    return apps


@pytest.fixture
def file(tmp_path):
    def file(content, name="apps.yaml"):
        (tmp_path / name).write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return str(tmp_path / name)

    return file


@pytest.fixture
def cluster(head):
    """The options that lead to the head through the API server."""
    head.has_rayservice()
    head.has_head()
    return ["-n", "team", "--kubeconfig", head.config()]


def test_g10_one_application_is_applied_waited_for_and_listed(apps, file):
    assert apps("apply", "-f", file(MODEL), "--wait") == (
        0,
        "application model: created\n",
        "model DEPLOYING\nmodel RUNNING\n",
    )

    code, table, _ = apps("list")

    assert code == 0
    assert table == (
        "NAME    ORIGIN        OWNER     STATE     ROUTE\n"
        "fruit   declarative   kuberay   RUNNING   /fruit\n"
        "model   declarative   dynamic   RUNNING   /model\n"
    )


def test_an_application_of_serve_run_is_listed_as_such(apps, head):
    head.serve_run("notebook")

    assert "notebook   imperative    dynamic" in apps("list")[1]


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", yaml.safe_load)], ids=["json", "yaml"])
def test_a_program_gets_everything_the_sidecar_says(apps, form, read):
    listed = read(apps("list", "-o", form)[1])["applications"]

    assert [(each["name"], each["owner"], each["route_prefix"]) for each in listed] == [("fruit", "kuberay", "/fruit")]
    one = {"name", "owner", "origin", "state", "message", "route_prefix", "deployed_at", "etag"}
    assert set(listed[0]) == {*one, "journal", "carried_over", "not_carried", "arriving"}


def test_names_alone_are_lines(apps):
    assert apps("list", "-o", "name") == (0, "fruit\n", "")


def test_wide_has_the_journals_columns_the_etag_and_the_message(apps):
    header = apps("list", "-o", "wide")[1].splitlines()[0]

    told = ["JOURNAL", "CARRIED OVER", "NOT CARRIED", "ETAG", "MESSAGE"]
    assert re.split(" {3,}", header) == ["NAME", "ORIGIN", "OWNER", "STATE", "ROUTE", *told]


def test_g10_get_shows_config_and_state_with_numbers_as_they_were_written(apps, file):
    apps(
        "apply",
        "-f",
        file("{name: model, route_prefix: /model, import_path: 'served:echo', args: {rate: 1.0, count: 1}}"),
    )

    code, text, said = apps("get", "model")

    assert (code, said) == (0, "")
    assert "    rate: 1.0\n    count: 1\n" in text
    assert yaml.safe_load(text)["owner"] == "dynamic"
    assert json.loads(apps("get", "model", "-o", "json")[1])["config"]["args"] == {"rate": 1.0, "count": 1}


def test_several_are_got_at_once_and_one_that_is_missing_is_said(apps, file):
    apps("apply", "-f", file(MODEL), "--wait")

    code, text, said = apps("get", "model", "fruit", "nobody")

    assert (code, said) == (1, "holdfast apps get: no application nobody runs.\n")
    assert [each["name"] for each in yaml.safe_load_all(text)] == ["model", "fruit"]
    assert [each["name"] for each in json.loads(apps("get", "model", "fruit", "-o", "json")[1])["applications"]] == [
        "model",
        "fruit",
    ]
    assert apps("get", "model", "-o", "table")[1].splitlines()[1].split() == [
        "model",
        "declarative",
        "dynamic",
        "RUNNING",
        "/model",
    ]


def test_nothing_found_prints_nothing(apps):
    assert apps("get", "nobody", "-o", "json")[:2] == (1, "")
    assert apps("get", "nobody", "-o", "name")[:2] == (1, "")


def test_g10_a_serve_config_is_applied_without_its_options_and_says_so(apps, file):
    config = {"http_options": {"port": 9}, "applications": [MODEL, {**MODEL, "name": "b", "route_prefix": "/b"}]}

    code, done, said = apps("apply", "-f", file(config))

    assert (code, done) == (0, "application model: created\napplication b: created\n")
    assert said == "holdfast apps apply: left out, as KubeRay alone sets it for all: http_options.\n"


def test_g10_what_is_refused_does_not_keep_the_others_from_being_applied(apps, file):
    code, done, said = apps("apply", "-f", file([{**MODEL, "name": "fruit"}, MODEL]))

    assert (code, done) == (1, "application model: created\n")
    assert re.fullmatch(r"holdfast apps apply: application fruit: .*'fruit' is declared by the RayService.*\.\n", said)


def test_an_application_that_fails_is_told_with_rays_reason(apps, file):
    code, done, said = apps("apply", "-f", file({**MODEL, "import_path": "served:absent"}), "--wait")

    assert (code, done) == (1, "application model: created\n")
    assert "model DEPLOY_FAILED\n" in said
    assert "holdfast apps apply: application model failed: " in said


def test_a_wait_has_an_end(apps, file):
    code, _, said = apps("apply", "-f", file(MODEL), "--wait=0")

    assert code == 1
    assert said.endswith("holdfast apps apply: application model does not run after 0 s: DEPLOYING.\n")


def test_g10_if_match_holds_the_second_writer_back(apps, file):
    apps("apply", "-f", file(MODEL), "--wait")
    etag = json.loads(apps("get", "model", "-o", "json")[1])["etag"].strip('"')

    assert apps("apply", "-f", file({**MODEL, "args": {"rate": 2.0}}), "--if-match", etag)[0] == 0
    code, _, said = apps("apply", "-f", file(MODEL), "--if-match", etag)

    assert code == 1
    assert "If-Match" in said


def test_if_match_is_for_one_application(apps, file):
    code, _, said = apps("apply", "-f", file([MODEL, {**MODEL, "name": "b"}]), "--if-match", "x")

    assert (code, said) == (
        2,
        "holdfast apps apply: --if-match is for one application; there are several in the file.\n",
    )


def test_g10_a_dry_run_says_what_would_be_done_and_does_nothing(apps, file):
    assert apps("apply", "-f", file(MODEL), "--dry-run", "--wait") == (0, "application model: would create\n", "")
    assert apps("delete", "--dry-run", "fruit")[0] == 1
    assert apps("list", "-o", "name")[1] == "fruit\n"


def test_g10_an_application_is_deleted_and_waited_for(apps, file):
    apps("apply", "-f", file(MODEL), "--wait")
    assert apps("apply", "-f", file(MODEL), "--dry-run")[1] == "application model: would not change\n"
    assert apps("delete", "model", "--dry-run")[1] == "application model: would delete\n"

    code, done, said = apps("delete", "--wait", "model")

    assert (code, done) == (0, "application model: deleting\n")
    assert said.endswith("model gone\n")
    assert apps("list", "-o", "name")[1] == "fruit\n"


def test_a_deletion_that_takes_too_long_is_said(apps, file):
    apps("apply", "-f", file(MODEL), "--wait")

    code, _, said = apps("delete", "model", "--wait=0")

    assert code == 1
    assert said.endswith("application model is still there after 0 s: DELETING.\n")


def test_g1_what_is_declared_is_not_deleted(apps):
    code, done, said = apps("delete", "fruit")

    assert (code, done) == (1, "")
    assert said.startswith("holdfast apps delete: application fruit: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["a/b", "..", "ü", "x" * 201])
def test_a_name_that_no_application_has_is_wrong_usage(apps, name):
    code, done, said = apps("delete", name)

    assert (code, done) == (2, "")
    assert "is no name of an application" in said


def test_a_name_with_signs_that_mean_something_in_a_url_is_sent_as_it_is(apps, file, cluster):
    odd = {**MODEL, "name": "a b%20?c#d", "route_prefix": "/odd"}

    assert apps("apply", "-f", file(odd), "--wait", way=cluster)[0] == 0
    assert apps("list", "-o", "name", way=cluster)[1] == "a b%20?c#d\nfruit\n"
    assert apps("delete", "a b%20?c#d", way=cluster)[:2] == (0, "application a b%20?c#d: deleting\n")


def test_nobody_there_is_one_sentence_and_exit_code_3(apps):
    code, done, said = apps("list", way=["--url", "http://127.0.0.1:9"])

    assert (code, done, said.count("\n")) == (3, "", 1)
    assert said.startswith("holdfast apps list: http://127.0.0.1:9 does not answer: ")


def test_a_url_that_is_none_is_wrong_usage(apps):
    assert apps("list", way=["--url", "head:28265"])[::2] == (
        2,
        "holdfast apps list: --url 'head:28265' is no URL such as http://HOST:28265.\n",
    )


def test_ray_itself_is_no_sidecar_and_nothing_is_done(apps, head, file):
    """At Ray's own port a `/-/` is Ray's 404."""
    code, _, said = apps("apply", "-f", file(MODEL), way=["--url", head.ray.url])

    assert code == 1
    assert "HTTP 404" in said


def test_a_url_beside_a_namespace_is_wrong_usage(apps):
    code, _, said = apps("list", "-n", "team")

    assert (code, said) == (
        2,
        "holdfast apps list: --url names the sidecar itself: --namespace cannot stand beside it.\n",
    )


def test_through_the_api_server_the_only_rayservice_is_meant(apps, cluster, head):
    assert apps("list", "-o", "name", way=cluster) == (0, "fruit\n", "")
    assert {path for path, _ in head.passed_on} == {f"{PODS}/shop-abcde-head:28265"}


def test_g12_the_token_of_kubernetes_is_not_passed_on_and_our_name_is_not_kuberays(apps, cluster, head):
    apps("list", way=cluster)

    assert {headers["User-Agent"] for _, headers in head.passed_on} == {"holdfast"}
    seen = {name.lower() for request in head.ray.seen for name, _ in request.headers}
    assert "authorization" not in seen


def test_g10_an_application_is_applied_through_the_api_server_letter_by_letter(apps, cluster, head, file):
    text = "name: model\nimport_path: served:echo\nroute_prefix: /model\nargs: {a: 1.0, b: 1.50, c: 1}\n"

    assert apps("apply", "-f", file(text), way=cluster)[0] == 0

    sent = next(request.body for request in reversed(head.ray.seen) if request.method == "PUT")
    assert b'{"a":1.0,"b":1.50,"c":1}' in sent


def test_the_namespace_is_that_of_the_context(apps, head):
    head.has_rayservice()
    head.has_head()

    assert apps("list", "-o", "name", way=["--kubeconfig", head.config(namespace="team")])[0] == 0
    code, _, said = apps("list", way=["--kubeconfig", head.config()])
    assert (code, said) == (
        3,
        "holdfast apps list: namespace default has no RayService. -n names another namespace.\n",
    )


def test_of_several_rayservices_one_has_to_be_named(apps, cluster, head):
    head.has_rayservice("other", active="other-x")

    code, _, said = apps("list", way=cluster)

    assert (code, said) == (
        2,
        "holdfast apps list: namespace team has several RayServices: name one with -r (other, shop).\n",
    )
    assert apps("list", "-r", "shop", way=cluster)[0] == 0
    assert apps("list", "-r", "third", way=cluster)[::2] == (
        3,
        "holdfast apps list: namespace team has no RayService third; it has other, shop.\n",
    )


def test_during_an_upgrade_the_active_cluster_is_meant_unless_another_is_named(apps, cluster, head):
    head.has_rayservice(pending="shop-new")
    head.has_head("shop-new", "shop-new-head")

    for chosen, pod in (([], "abcde"), (["--cluster", "pending"], "new"), (["--cluster", "shop-new"], "new")):
        head.passed_on.clear()
        assert apps("list", *chosen, way=cluster)[0] == 0
        assert {path for path, _ in head.passed_on} == {f"{PODS}/shop-{pod}-head:28265"}
    assert apps("list", "--cluster", "old", way=cluster)[::2] == (
        3,
        "holdfast apps list: RayService shop has no cluster old; it has shop-abcde and shop-new.\n",
    )


def test_without_an_upgrade_there_is_no_pending_cluster(apps, cluster):
    assert "no upgrade is under way" in apps("list", "--cluster", "pending", way=cluster)[2]


def test_a_new_rayservice_is_reached_while_its_only_cluster_is_pending(apps, cluster, head):
    head.has_rayservice(active="", pending="shop-abcde")

    assert apps("list", way=cluster)[0] == 0


def test_a_rayservice_without_a_cluster_is_said(apps, cluster, head):
    head.has_rayservice(active="")

    assert apps("list", way=cluster)[::2] == (
        3,
        "holdfast apps list: RayService shop has no cluster yet: KubeRay has not made one.\n",
    )


def test_a_head_without_a_sidecar_is_said_with_what_to_do(apps, cluster, head):
    head.has_head(sidecar=False)

    code, _, said = apps("list", way=cluster)

    assert code == 3
    assert "head shop-abcde-head has no sidecar, so nobody answers there. `holdfast check` says what to do" in said


def test_a_head_that_is_on_its_way_out_is_not_asked(apps, cluster, head):
    head.has_head(deletionTimestamp="2026-01-01T00:00:00Z")
    assert apps("list", way=cluster)[0] == 3

    head.has_head(name="shop-abcde-head-2")
    assert apps("list", way=cluster)[0] == 0


@pytest.mark.parametrize("told", [(403, 1, "refuses it"), (503, 3, "cannot be reached")])
def test_a_refusal_of_the_api_server_is_told_from_one_of_the_sidecar(apps, cluster, head, told):
    status, code, text = told
    head.kubernetes.refuse["GET", f"{PODS}/shop-abcde-head:28265"] = status

    got, _, said = apps("list", way=cluster)

    assert (got, said.count("\n")) == (code, 1)
    assert text in said
    assert said.endswith("refused by the test.\n")


@pytest.mark.parametrize(("status", "code"), [(404, 3), (403, 1)])
def test_a_cluster_without_kuberay_or_without_the_right_to_look_is_one_sentence(apps, cluster, head, status, code):
    head.kubernetes.refuse["GET", RAYSERVICES] = status

    got, _, said = apps("list", way=cluster)

    assert (got, said.count("\n")) == (code, 1)


def test_an_api_server_that_is_away_is_exit_code_3(apps, head, tmp_path):
    config = head.config()
    (tmp_path / "kubeconfig").write_text((tmp_path / "kubeconfig").read_text().replace(str(head.api_port), "9"))

    code, _, said = apps("list", way=["--kubeconfig", config])

    assert (code, said.count("\n")) == (3, 1)
    assert "the API server does not answer" in said


def test_a_kubeconfig_that_is_not_there_is_exit_code_3(apps, tmp_path):
    code, _, said = apps("list", way=["--kubeconfig", str(tmp_path / "none")])

    assert (code, said.count("\n")) == (3, 1)


@pytest.fixture
def guarded(tmp_path, monkeypatch):
    """A Ray with token authentication."""
    head = Head(tmp_path, token="of-ray")  # noqa: S106 - of this test only
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    yield head
    head.close()


def test_g12_rays_token_goes_along_from_the_environment(guarded, monkeypatch, capsys, tmp_path):
    assert main(["apps", "list", "--url", guarded.url]) == 1
    monkeypatch.setenv("RAY_AUTH_TOKEN", "of-ray")
    assert main(["apps", "list", "--url", guarded.url]) == 0
    monkeypatch.delenv("RAY_AUTH_TOKEN")
    (tmp_path / "token").write_text("of-ray\n")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    assert main(["apps", "list", "--url", guarded.url]) == 0
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    assert main(["apps", "list", "--url", guarded.url]) == 2

    assert "of-ray" not in "".join(capsys.readouterr())


def test_nothing_runs_is_said_on_standard_error(tmp_path, capsys):
    head = Head(tmp_path)
    try:
        assert main(["apps", "list", "--url", head.url]) == 0
        assert tuple(capsys.readouterr()) == ("", "No application runs.\n")
        assert main(["apps", "list", "--url", head.url, "-o", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"applications": []}
    finally:
        head.close()
