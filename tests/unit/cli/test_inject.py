"""`holdfast inject` and `uninject`: what becomes of the data, and of the text that people wrote."""

import copy
import io
import json
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cli.inject import documents
from cli.inject.editing import rewritten
from cli.inject.rayservice import NotInjectedError, Target, inject, uninject
from cli.inject.run import changed, run
from webhook.injection import SidecarForm

TARGET = Target(SidecarForm("holdfast:1"))
PLAIN = Target(SidecarForm("holdfast:1"), is_native=False, needs_agent_port=True)

WRITTEN = """\
# The shop.
apiVersion: ray.io/v1
kind: RayService
metadata:
  name: shop   # ours
spec:
  serveConfigV2: |
    applications:
      - name: fruit
        args: {price: 1.0}   # stays 1.0
  rayClusterConfig:
    headGroupSpec:
      rayStartParams: {dashboard-host: '0.0.0.0'}
      template:
        spec:
          containers:
            - name: ray-head
              image: "rayproject/ray:2.52.1"
              ports:
                - {name: gcs-server, containerPort: 6379}
                # for people
                - name: dashboard
                  containerPort: 8265
                - {name: serve, containerPort: 8000}
            - name: logs
              image: fluent
          volumes:
            - {name: tmp, emptyDir: {}}
    workerGroupSpecs: []   # none
"""


def head(text):
    return yaml.safe_load(text)["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]


def injected(text, target=TARGET):
    return changed(text, lambda found: inject(found, target))


def uninjected(text):
    return changed(text, uninject)


def without(text, *lines):
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() not in lines)


INIT_CONTAINER = """\
          initContainers:
            - name: wait
              image: w
"""

TEXTS = {
    "as people write it": WRITTEN,
    "windows line ends": WRITTEN.replace("\n", "\r\n"),
    "no newline at the end": WRITTEN.rstrip("\n"),
    "no volumes": without(WRITTEN, "volumes:", "- {name: tmp, emptyDir: {}}"),
    "lists not indented": yaml.safe_dump(yaml.safe_load(WRITTEN), sort_keys=False),
    "ports in one line": without(WRITTEN, "# for people", "- name: dashboard", "containerPort: 8265").replace(
        "- {name: gcs-server, containerPort: 6379}", "- {name: dashboard, containerPort: 8265}"
    ),
    "an init container": WRITTEN.replace("          volumes:", f"{INIT_CONTAINER}          volumes:"),
    "a comment at the end": WRITTEN + "# the end\n",
    "no ports": without(
        WRITTEN,
        "ports:",
        "# for people",
        "- {name: gcs-server, containerPort: 6379}",
        "- name: dashboard",
        "containerPort: 8265",
        "- {name: serve, containerPort: 8000}",
    ),
}


@pytest.mark.parametrize("target", [TARGET, PLAIN], ids=["native", "plain"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_line_that_was_written_stays_and_only_ports_change(text, target):
    new, notes = injected(text, target)

    assert notes == []
    after = iter(new.splitlines())
    assert [line for line in text.replace(" 8265", " 28265").splitlines() if line not in after] == []


@pytest.mark.parametrize("target", [TARGET, PLAIN], ids=["native", "plain"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_uninject_gives_back_what_was_there(text, target):
    new, _ = injected(text, target)
    back, _ = uninjected(new)

    assert yaml.safe_load(back) == yaml.safe_load(text)
    assert back == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_injecting_twice_changes_nothing(text):
    once, _ = injected(text)

    assert injected(once) == (once, ["RayService shop needs no change"])


def test_the_sidecar_comes_last_and_kuberay_is_led_to_it():
    spec = head(injected(WRITTEN)[0])

    assert [each["name"] for each in spec["containers"]] == ["ray-head", "logs"]
    assert spec["initContainers"][-1]["name"] == "holdfast-proxy"
    assert spec["initContainers"][-1]["restartPolicy"] == "Always"
    ports = {each["name"]: each["containerPort"] for each in spec["containers"][0]["ports"]}
    assert ports == {"gcs-server": 6379, "dashboard": 28265, "serve": 8000, "dashboard-ray": 8265}


def test_for_kuberay_1_0_it_is_a_plain_container_and_the_agent_is_led_there_as_well():
    """Its client drops restartPolicy, and it asks the port dashboard-agent."""
    spec = head(injected(WRITTEN, PLAIN)[0])

    assert [each["name"] for each in spec["containers"]] == ["ray-head", "logs", "holdfast-proxy"]
    ports = {each["name"]: each["containerPort"] for each in spec["containers"][0]["ports"]}
    assert (ports["dashboard-agent"], ports["dashboard-agent-ray"]) == (28266, 52365)


def test_a_head_without_ports_keeps_those_that_kuberay_would_give_it():
    """Naming one port switches KubeRay's own off: without `serve`, KubeRay could make no serve Service."""
    spec = head(injected(TEXTS["no ports"])[0])

    ports = {each["name"]: each["containerPort"] for each in spec["containers"][0]["ports"]}
    assert ports == {
        "client": 10001,
        "gcs-server": 6379,
        "dashboard": 28265,
        "dashboard-ray": 8265,
        "metrics": 8080,
        "serve": 8000,
    }


def test_another_dashboard_port_is_found_in_the_start_parameters():
    given = "{dashboard-host: '0.0.0.0'"
    text = TEXTS["no ports"].replace(given, f"{given}, dashboard-port: '9000'")
    spec = head(injected(text)[0])

    assert {"name": "HOLDFAST_UPSTREAM", "value": "127.0.0.1:9000"} in spec["initContainers"][-1]["env"]
    assert {"name": "dashboard-ray", "containerPort": 9000} in spec["containers"][0]["ports"]


def test_json_stays_json():
    new, notes = injected(json.dumps(yaml.safe_load(WRITTEN)))

    assert json.loads(new)["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]["initContainers"]
    assert notes == []


def test_what_cannot_be_edited_is_printed_anew_and_says_the_same():
    """A worker group uses the head's volumes by an alias: it must not get the sidecar's."""
    text = WRITTEN.replace("          volumes:", "          volumes: &volumes")
    workers = "workerGroupSpecs: [{template: {spec: {volumes: *volumes}}}]"
    new, notes = injected(text.replace("workerGroupSpecs: []   # none", workers))

    assert notes == ["RayService shop was printed anew: its comments and layout are lost"]
    assert head(new)["initContainers"][-1]["name"] == "holdfast-proxy"
    assert yaml.safe_load(new)["spec"]["rayClusterConfig"]["workerGroupSpecs"] == [
        {"template": {"spec": {"volumes": [{"name": "tmp", "emptyDir": {}}]}}}
    ]


def test_other_documents_of_the_stream_pass_byte_for_byte():
    others = "# first\nkind:   ConfigMap\ndata: {a: 1}\n"
    new, notes = injected(f"{others}--- # shop\n{WRITTEN}---\n{others}...\n")

    assert new.startswith(f"{others}--- # shop\n# The shop.\n")
    assert new.endswith(f"---\n{others}...\n")
    assert notes == []
    assert uninjected(new)[0] == f"{others}--- # shop\n{WRITTEN}---\n{others}...\n"


def test_without_a_rayservice_nothing_is_changed_and_it_is_said():
    assert injected("kind: Pod\n") == ("kind: Pod\n", ["there is no RayService in it, so nothing was changed"])


def test_one_that_opted_out_is_left_alone():
    text = WRITTEN.replace("  name: shop   # ours\n", '  name: shop\n  annotations: {holdfast.dev/inject: "false"}\n')

    assert injected(text) == (text, ["RayService shop needs no change"])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("containerPort: 8000", "containerPort: 28265", "declares port 28265"),
        ("'0.0.0.0'", "'10.0.0.7'", "dashboard-host"),
        ("'0.0.0.0'", "'0.0.0.0', include-dashboard: 'false'", "switches the dashboard off"),
        ("containers:", "sidecars:", "no complete RayService"),
    ],
)
def test_a_head_that_cannot_have_it_is_refused_with_what_to_do(old, new, complaint):
    with pytest.raises(NotInjectedError, match=f"RayService shop: .*{complaint}"):
        injected(WRITTEN.replace(old, new))


def test_standard_input_to_standard_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRITTEN.encode())))

    assert run("inject", "-", output="-", target=TARGET) == 0
    assert head(capsys.readouterr().out)["initContainers"]


def test_a_file_that_is_not_there_is_one_sentence(tmp_path, capsys):
    assert run("inject", str(tmp_path / "no.yaml"), output="-", target=TARGET) == 1
    assert capsys.readouterr().err == f"holdfast inject: {tmp_path}/no.yaml: No such file or directory.\n"


@pytest.mark.parametrize("bad", [b"\xff", b"a: [", b"a: *b"], ids=["no text", "no YAML", "alias of nothing"])
def test_a_file_that_cannot_be_read_is_one_sentence_and_nothing_is_written(tmp_path, capsys, bad):
    (tmp_path / "in.yaml").write_bytes(bad)

    assert run("inject", str(tmp_path / "in.yaml"), output=str(tmp_path / "out.yaml"), target=TARGET) == 1
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out.yaml").exists()


PARTS = st.lists(st.sampled_from(["---\n", "--- # x\n", "a: 1\n", "b: |\n  ---\n", "\n", "---", "...\n", "# c\n"]))


@given(PARTS.map("".join))
def test_a_stream_cut_apart_is_put_together_to_the_same(text):
    assert documents.join(documents.split(text)) == text


NAMES = st.lists(st.sampled_from("abcde"), unique=True, min_size=1)


@given(before=NAMES, after=NAMES, style=st.booleans())
def test_whatever_a_list_becomes_the_text_says_it(before, after, style):
    data = {"list": [{"name": name, "size": 1} for name in before], "z": 1}
    wanted = {"list": [{"name": name, "size": 2} for name in after], "z": 1}

    text, _ = rewritten(yaml.safe_dump(data, default_flow_style=style), wanted)

    assert yaml.safe_load(text) == wanted


def test_the_manifest_that_was_read_is_not_changed():
    manifest = yaml.safe_load(WRITTEN)
    before = copy.deepcopy(manifest)

    inject(manifest, TARGET)

    assert manifest == before
