import pytest

from cli.apps.errors import UsageError
from cli.apps.reading import read


def named(content):
    return [application.name for application in read(content).applications]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"name: a\nimport_path: m:a\n", ["a"]),
        (b"- {name: a}\n- {name: b}\n", ["a", "b"]),
        (b"name: a\n---\nname: b\n", ["a", "b"]),
        (b"---\nname: a\n---\n# nothing\n", ["a"]),
        (b"applications:\n- name: a\n- name: b\n", ["a", "b"]),
        (b"\xef\xbb\xbfname: a\n", ["a"]),
        (b'{"name": "a"}', ["a"]),
        (b' [{"name": "a"}, {"name": "b"}]', ["a", "b"]),
        (b'{"applications": [{"name": "a"}]}', ["a"]),
        (b"{name: a}", ["a"]),
    ],
)
def test_one_application_or_a_list_or_a_serve_config_is_read(content, names):
    assert named(content) == names


def test_g1_json_goes_byte_for_byte():
    text = b'{"name":  "a", "args": {"rate": 1.00}}'

    assert read(text).applications[0].raw == text


def test_options_of_a_serve_config_are_named_as_left_out():
    assert read(b"proxy_location: HeadOnly\napplications: [{name: a}]\n").ignored == ("proxy_location",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "there is no application in it"),
        (b"applications: []", "there is no application in it"),
        (b"import_path: m:a", "has no name"),
        (b"- name: a\n- name: a", "application a stands in it more than once"),
        (b"just words", "it is no application"),
        (b"[1]", "it is no application"),
        (b"name: 1.5", "an application"),
        ("name: modèle".encode(), "not ASCII"),
        (b"\xff", "not UTF-8"),
        (b"apiVersion: ray.io/v1\nkind: RayService\n", "it is a RayService of Kubernetes: kubectl applies it"),
        (b"name: [", "line 2"),
        (b'{"name": "a", "x": ' + b"[" * 200 + b"]" * 200 + b"}", "nests deeper"),
        (b"applications: {name: a}", "applications in it is no list"),
        (b"applications: 3", "applications in it is no list"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(content, said):
    with pytest.raises(UsageError, match=said):
        read(content)
