"""Options of the commands that speak to a cluster, and their complaints."""

import argparse
import subprocess
import sys

import pytest
import yaml

from certs.bundle import Pair
from cli import commands


def run(*arguments, environ=None):
    parser = argparse.ArgumentParser(prog="holdfast")
    commands.add(parser.add_subparsers(dest="command"))
    return commands.run(parser.parse_args(arguments), environ or {})


@pytest.mark.parametrize(
    "command", [["check"], ["check", "--pre", "-o", "json"], ["certs"], ["uninstall", "--yes"]], ids=" ".join
)
def test_a_cluster_that_cannot_be_found_is_one_sentence(command, tmp_path, capsys):
    assert run(*command, "--kubeconfig", str(tmp_path / "none")) != 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"holdfast {command[0]}: ")
    assert said.err.count("\n") == 1
    assert "--kubeconfig" in said.err


def test_a_cluster_that_does_not_answer_is_one_sentence(tmp_path, capsys):
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
        "current-context": "c",
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))

    assert run("check", "--kubeconfig", str(tmp_path / "config")) == 2
    said = capsys.readouterr().err
    assert said.startswith("holdfast check: the API server does not answer: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("text", ["a: [", "just words", "{}"], ids=["no YAML", "no mapping", "empty"])
def test_a_kubeconfig_that_cannot_be_read_is_one_sentence(text, tmp_path, capsys):
    (tmp_path / "config").write_text(text)

    assert run("check", "--kubeconfig", str(tmp_path / "config")) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_version_that_is_none_is_said(capsys):
    with pytest.raises(SystemExit):
        run("inject", "-f", "-", "--kuberay", "new")
    assert "'new' is not a version such as 1.29" in capsys.readouterr().err


def test_certs_for_a_developer_need_no_cluster(tmp_path, capsys):
    assert run("certs", "--to", str(tmp_path / "tls"), "--name", "localhost") == 0

    folder = tmp_path / "tls"
    pair = Pair((folder / "tls.crt").read_bytes(), (folder / "tls.key").read_bytes())
    assert pair.belongs_together()
    assert (folder / "tls.key").stat().st_mode & 0o077 == 0
    assert "PRIVATE" not in capsys.readouterr().out


def test_certs_into_a_folder_that_cannot_be_made_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")

    assert run("certs", "--to", str(tmp_path / "file" / "tls")) == 1
    assert capsys.readouterr().err == f"holdfast certs: cannot write to {tmp_path}/file/tls: Not a directory.\n"


@pytest.mark.parametrize(
    ("options", "native", "agent"),
    [
        ([], True, False),
        (["--kubernetes", "1.28"], False, False),
        (["--kubernetes", "v1.29.3", "--kuberay", "1.1"], True, False),
        (["--kuberay", "1.0.0"], False, True),
    ],
)
def test_the_form_of_the_sidecar_follows_the_versions(options, native, agent, tmp_path, capsys):
    template = {"spec": {"containers": [{"name": "ray", "image": "ray"}]}}
    spec = {"rayClusterConfig": {"headGroupSpec": {"rayStartParams": {}, "template": template}}}
    manifest = {"kind": "RayService", "metadata": {"name": "s"}, "spec": spec}
    (tmp_path / "in.yaml").write_text(yaml.safe_dump(manifest))

    assert run("inject", "-f", str(tmp_path / "in.yaml"), "--image", "mine:1", *options) == 0
    head = yaml.safe_load(capsys.readouterr().out)["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]
    sidecar = (head["initContainers"] if native else head["containers"])[-1]
    assert sidecar["image"] == "mine:1"
    assert agent == ("dashboard-agent" in [port["name"] for port in head["containers"][0]["ports"]])


def test_a_command_imports_no_part_before_it_is_given():
    parts = "{'aiohttp', 'kubernetes_asyncio', 'cryptography', 'webhook', 'certs', 'yaml'}"
    code = f"import sys, cli.commands; print(sorted({{m.split('.')[0] for m in sys.modules}} & {parts}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)

    assert done.stdout == "[]\n"
