"""Applications put back into a text: what was there stays, and what is added means the same to every reader."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from webhook.yamlnodes import UnreadableTextError, compose
from webhook.yamlreading import value_of
from webhook.yamltext import ServeText, canonical, print_json

M1 = {"name": "m-1", "route_prefix": "/m-1", "import_path": "models:build", "args": {"temperature": 1.0, "on": "yes"}}
M2 = {"name": "m-2"}
ROUTER = "- name: router\n  import_path: shop:router\n"

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    leaves, lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3), max_leaves=10
)
applications = st.lists(
    st.dictionaries(st.sampled_from(["name", "route_prefix", "args"]), values, max_size=3), max_size=3
)


@given(values)
def test_what_is_printed_is_json_and_the_same_yaml_to_both_readers(value):
    printed = print_json(value)

    assert value == json.loads(printed)
    assert canonical(value) == canonical(value_of(compose(printed)))
    assert canonical(value) == canonical(yaml.safe_load(printed))


@given(applications, applications, st.booleans(), st.integers(0, 4))
def test_what_is_added_is_there_and_what_was_there_stays(before, added, flow, indentation):
    """Texts of whichever style: block or flow, indented by any number of spaces."""
    text = yaml.safe_dump(
        {"proxy_location": "x", "applications": before}, default_flow_style=flow, indent=indentation + 2
    )

    read = ServeText.parse(text)  # not always what was written: to PyYAML 0E0 is a word, to goyaml a number

    after = ServeText.parse(read.adding(added))

    assert canonical([*read.applications, *added]) == canonical(list(after.applications))
    assert after.options == {"proxy_location": "x"}


@given(st.text() | st.text(alphabet="abc:-[]{}&*#|>'\"\n \t?,!%"))
def test_any_text_is_read_or_refused_in_words(text):
    try:
        read = ServeText.parse(text)
    except UnreadableTextError:
        pass  # nothing else may come out
    else:
        assert canonical([*read.applications, M1]) == canonical(list(ServeText.parse(read.adding([M1])).applications))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (f"applications:\n{ROUTER}# end\n", f"applications:\n{ROUTER}- <1>\n- <2>\n# end\n"),
        ("applications:\n  - name: a", "applications:\n  - name: a\n  - <1>\n  - <2>"),
        ("applications:\n-\n  name: a\nx: 1\n", "applications:\n-\n  name: a\n- <1>\n- <2>\nx: 1\n"),
        ("applications: &all\n -  name: a\n", "applications: &all\n -  name: a\n - <1>\n - <2>\n"),
        ("? applications\n: - name: a\n", "? applications\n: - name: a\n  - <1>\n  - <2>\n"),
        ("applications: [{name: a}, ]\n", "applications: [{name: a}, <1>, <2>, ]\n"),
        ("applications: [ # none\n]\n", "applications: [<1>, <2> # none\n]\n"),
        ("applications: ~ # none\n", "applications: [<1>, <2>] # none\n"),
        ("applications:\r\n- name: a\r\n", "applications:\r\n- name: a\r\n- <1>\r\n- <2>\r\n"),
        (
            "applications:\n- name: a\n  args: |+\n    x\n\n# c\n",
            "applications:\n- name: a\n  args: |+\n    x\n\n- <1>\n- <2>\n# c\n",
        ),
        ("applications:\n- name: a\n  args: |\n    x", "applications:\n- <1>\n- <2>\n- name: a\n  args: |\n    x"),
        ("{x: 1}", '{x: 1, "applications": [<1>, <2>]}'),
        ("{}", '{"applications": [<1>, <2>]}'),
        ("---\n# c", "---\n# c\napplications:\n- <1>\n- <2>\n"),
        ("x: 1\n...\n", "x: 1\napplications:\n- <1>\n- <2>\n...\n"),
        ("null", '{"applications": [<1>, <2>]}'),
        ("x: 1\n  \t", '{"x": 1, "applications": [<1>, <2>]}'),
        ("!!map\nx: 1\n", "!!map\nx: 1\napplications:\n- <1>\n- <2>\n"),
        ("\ufeffapplications:\n- name: \u00e9", "\ufeffapplications:\n- name: \u00e9\n- <1>\n- <2>"),
        ("applications:\t[]\n", "applications:\t[<1>, <2>]\n"),
    ],
    ids=repr,
)
def test_a_text_keeps_its_style(text, after):
    added = ServeText.parse(text).adding([M1, M2])

    assert after.replace("<1>", print_json(M1)).replace("<2>", print_json(M2)) == added


@pytest.mark.parametrize(
    "text", ["- a\n", "x", "applications: x\n", "applications: {a: b}\n", "applications: [x]\n", "a: [", "12"], ids=repr
)
def test_what_kuberay_or_ray_could_not_use_is_not_read(text):
    with pytest.raises(UnreadableTextError):
        ServeText.parse(text)


def test_a_text_of_a_megabyte_is_added_to():
    text = "applications:\n" + "".join(
        f"- name: a-{n}\n  route_prefix: /a-{n}\n  import_path: a:b\n" for n in range(2500)
    )
    text += "# " + "x" * (1_000_000 - len(text)) + "\n"

    after = ServeText.parse(text).adding([M1])

    assert len(text) + len(print_json(M1)) + len("- \n") == len(after)
    assert after.replace(f"- {print_json(M1)}\n", "") == text


def test_names_that_are_no_text_are_nobodys():
    assert {"default", "a"} == set(ServeText.parse("applications: [{name: a}, {name: 1}, {name: yes}, {}]").named())
