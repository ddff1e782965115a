"""`holdfast diff`, against the real proxy before a fake Ray: what it foretells is what KubeRay's PUT then does."""

import json

import pytest
import yaml

from cli.diff import changes as diff
from cli.diff.changes import Action, changes
from cli.diff.manifest import Wanted
from cli.main import main
from serveconfig.errors import UnknownStateError
from tests.words import app, config, imperative, listing, shown

FRUIT = {"name": "fruit", "route_prefix": "/fruit", "import_path": "served:echo"}
MODEL = {"name": "model", "route_prefix": "/model", "import_path": "served:echo"}


@pytest.fixture
def said(head, capsys, tmp_path):
    """Compare a RayService with these applications; (exit code, standard output, standard error)."""

    def said(*applications, options=(), annotations=None, text=None, way=None):
        served = yaml.safe_dump({"applications": list(applications)}) if text is None else text
        metadata = {"name": "shop", "namespace": "team", "annotations": annotations or {}}
        manifest = {"kind": "RayService", "metadata": metadata, "spec": {"serveConfigV2": served}}
        (tmp_path / "rayservice.yaml").write_text("kind: Namespace\n---\n" + yaml.safe_dump(manifest))
        code = main(["diff", "-f", str(tmp_path / "rayservice.yaml"), *options, *(way or ["--url", head.url])])
        return code, *capsys.readouterr()

    return said


def deploy(head, capsys, application, tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(application))
    assert main(["apps", "apply", "-f", str(tmp_path / "one.json"), "--wait", "--url", head.url]) == 0
    capsys.readouterr()


def test_g1_an_unchanged_rayservice_changes_nothing(said, head, capsys, tmp_path):
    deploy(head, capsys, MODEL, tmp_path)
    head.serve_run("notebook")

    assert said(FRUIT) == (
        0,
        (
            "= keep   fruit     unchanged\n"
            "= keep   model     dynamic: not KubeRay's\n"
            "= keep   notebook  made by serve.run\n"
        ),
        "",
    )


def test_g3_a_diff_foretells_what_is_created_changed_and_deleted(said):
    changed = {**FRUIT, "args": {"rate": 1}}
    other = {"name": "other", "route_prefix": "/other", "import_path": "served:echo"}

    assert said(changed, other)[:2] == (1, "~ change fruit  its config differs\n+ create other  does not run yet\n")
    assert said(other)[:2] == (
        1,
        "- delete fruit  declared before, and no longer\n+ create other  does not run yet\n",
    )


def test_g4_a_route_that_is_taken_is_refused_and_named(said, head, capsys, tmp_path):
    deploy(head, capsys, MODEL, tmp_path)

    code, out, _ = said(FRUIT, {**MODEL, "name": "thief"})

    assert code == 2
    assert out.startswith("! refuse: application 'thief' claims the route prefix '/model'")
    assert out.count("\n") == 1


def test_an_application_that_changes_hands_is_told(said, head, capsys, tmp_path):
    deploy(head, capsys, {**MODEL, "args": {"rate": 1}}, tmp_path)
    head.serve_run("notebook")
    notebook = {"name": "notebook", "route_prefix": "/notebook", "import_path": "served:echo"}

    assert said(FRUIT, MODEL, notebook)[1] == (
        "= keep   fruit     unchanged\n"
        "~ change model     dynamic: the RayService takes it over\n"
        "~ change notebook  made by serve.run: the RayService takes it over, and its replicas are replaced\n"
    )


def test_a_program_gets_the_same_as_json(said):
    code, out, _ = said(FRUIT, options=["-o", "json"])

    assert (code, json.loads(out)) == (
        0,
        {
            "changes": False,
            "refused": False,
            "applications": [{"name": "fruit", "action": "keep", "why": "unchanged"}],
        },
    )


def test_g7_what_the_webhook_puts_back_is_kept(said, head):
    annotations = {"holdfast.dev/dynamic-apps": "model-*"}
    mine = {"name": "model-1", "route_prefix": "/m1", "import_path": "served:echo"}
    head.kuberay_puts(FRUIT, mine)
    served = yaml.safe_dump({"applications": [FRUIT, mine]})
    head.has_rayservice(metadata={"annotations": annotations}, spec={"serveConfigV2": served})
    head.has_head()

    code, out, _ = said(FRUIT, annotations=annotations, way=["--kubeconfig", head.config()])

    assert (code, out) == (
        0,
        (
            "= keep   fruit    unchanged\n"
            "= keep   model-1  dynamic: the webhook puts it back, unless its own writer drops it\n"
        ),
    )


def test_g8_a_rayservice_that_rolls_is_said_to(said):
    rolls = {"holdfast.dev/update-in-place": "false"}

    assert said(FRUIT, annotations=rolls)[2] == ""
    assert "KubeRay makes a new cluster" in said({**FRUIT, "args": {"rate": 1}}, annotations=rolls)[2]


def test_a_number_that_kuberay_prints_otherwise_is_no_change(said, head):
    """KubeRay reads 1.0 and prints 1."""
    head.kuberay_puts({**FRUIT, "args": {"rate": 1}})

    assert said({**FRUIT, "args": {"rate": 1.0}}) == (0, "= keep   fruit  unchanged\n", "")
    assert said({**FRUIT, "args": {"rate": 1.5}})[0] == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("applications: [", "KubeRay cannot read serveConfigV2 of shop: line 2"),
        ("- a", "serveConfigV2 of shop is no mapping, so KubeRay cannot read it"),
    ],
)
def test_a_text_that_kuberay_cannot_read_is_one_sentence(said, text, complaint):
    code, out, err = said(text=text)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


def test_what_the_sidecar_or_ray_would_refuse_is_a_line(said):
    assert said(FRUIT, FRUIT)[:2] == (2, "! refuse: Ray refuses a config that names fruit more than once\n")
    assert said({**FRUIT, "name": "ü"})[1].startswith("! refuse: the application name 'ü' is not ASCII")


def test_no_serve_config_at_all_retires_everything(said):
    assert said(text="")[:2] == (1, "- delete fruit  declared before, and no longer\n")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"kind: Pod\n", "there is no RayService in it"),
        (b"a: [\n", "line 2"),
        (b"\xff", "it is not UTF-8"),
        (
            b"kind: RayService\nmetadata: {name: a}\n---\nkind: RayService\nmetadata: {name: b}\n",
            "several RayServices: name one with -r (a, b)",
        ),
    ],
)
def test_a_file_that_cannot_be_meant_is_one_sentence(content, complaint, tmp_path, capsys):
    (tmp_path / "in.yaml").write_bytes(content)

    assert main(["diff", "-f", str(tmp_path / "in.yaml")]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert complaint in said.err


def test_a_file_that_is_not_there_is_one_sentence(capsys):
    assert main(["diff", "-f", "/nowhere/x.yaml"]) == 2
    assert capsys.readouterr().err == "holdfast diff: /nowhere/x.yaml: No such file or directory.\n"


def test_g4_nobody_there_is_trouble_and_no_difference(said):
    assert said(FRUIT, way=["--url", "http://127.0.0.1:9"])[0] == 3
    assert said(FRUIT, way=["--url", "http://127.0.0.1:9", "-r", "shop"])[0] == 2


def test_g4_a_refusal_of_the_sidecar_is_trouble_and_no_difference(said, head):
    assert said(FRUIT, way=["--url", head.ray.url])[0] == 2


STATUS = {"ray_version": "2.60.0", "declared": {"known": True, "applications": ["a"]}}


def found(asked, *entries, status=STATUS, **options):
    wanted = Wanted(asked, options.pop("annotations", {}))
    return {each.name: each.action for each in changes(wanted, status, listing(*entries, **options))}


@pytest.mark.parametrize(
    ("asked", "stored", "action"),
    [
        (
            {"deployments": [{"ray_actor_options": {"num_cpus": 5}}]},
            {"deployments": [{"ray_actor_options": {"num_cpus": 5.0}}]},
            "keep",
        ),
        ({"deployments": [{"user_config": {"n": 5}}]}, {"deployments": [{"user_config": {"n": 5.0}}]}, "change"),
        ({"deployments": [{"is_on": True}]}, {"deployments": [{"is_on": True}]}, "keep"),
        ({}, {"logging_config": {"log_level": "INFO"}}, "keep"),
        ({"logging_config": {"log_level": "DEBUG"}}, {"logging_config": {"log_level": "INFO"}}, "change"),
        ({"args": {"rate": 1}}, {"args": {"rate": 1.0}}, "change"),
    ],
)
def test_what_ray_stores_a_little_otherwise_is_no_change(asked, stored, action):
    assert found(config(app("a", **asked)), shown(app("a", **stored))) == {"a": action}


def test_an_application_that_has_failed_is_tried_again():
    asked = config(app("a"))

    assert [
        each.why for each in diff.changes(Wanted(asked, {}), STATUS, listing(shown(app("a"), status="DEPLOY_FAILED")))
    ] == ["has failed, and is tried again"]


def test_g4_an_empty_list_without_a_controller_is_not_taken_for_nothing_runs():
    with pytest.raises(UnknownStateError):
        found(config(app("a")), controller=False)


def test_a_declared_application_that_ray_does_not_show_is_created():
    assert found(config(app("a"))) == {"a": Action.CREATE}


def test_on_an_old_ray_the_loss_is_refused_unless_it_is_accepted():
    old = {**STATUS, "ray_version": "2.9.3"}
    entries = (shown(app("a")), imperative("notebook"))

    assert found(config(app("a", v=2)), *entries, status=old) == {None: Action.REFUSE}
    allowed = {"holdfast.dev/allow-loss": "true"}
    assert found(config(app("a", v=2)), *entries, status=old, annotations=allowed)["a"] == Action.CHANGE


def test_while_nothing_declared_is_known_nothing_is_retired():
    unknown = {**STATUS, "declared": {"known": False, "applications": []}}

    assert found(config(app("b")), shown(app("a")), status=unknown) == {"a": Action.KEEP, "b": Action.CREATE}
