import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serveconfig.carriable import LARGEST_CONFIG_BYTES, LONGEST_NAME, fault
from serveconfig.document import Application


def raw(text):
    return msgspec.Raw(text.encode())


def config(name="a", **more):
    return raw(json.dumps({"name": name, **more}))


@pytest.mark.parametrize(
    ("name", "config", "why"),
    [
        ("", config(""), "1 to 512 characters, and not 0"),
        ("n" * (LONGEST_NAME + 1), config("n" * (LONGEST_NAME + 1)), "and not 513"),
        ("naïve", config("naïve"), "'naïve' is not ASCII"),
        ("a", raw("1"), "the config of 'a' cannot be read"),
        ("a", raw('{"name": "a", "x": NaN}'), "the config of 'a' cannot be read"),
        ("a", raw('{"name": "a", "args": ' + "[" * 200 + "]" * 200 + "}"), "nests deeper than 128"),
        ("a", config("b"), "under the name 'a' is of another application"),
        ("a", raw("{}"), "under the name 'a' is of another application"),
        ("a", config(text="x" * LARGEST_CONFIG_BYTES), "and may have 524288"),
    ],
)
def test_g5_what_cannot_be_carried_is_said_in_a_sentence(name, config, why):
    assert why in fault(name, config)


@pytest.mark.parametrize(("name", "text"), [("a", '{"name": "a", "f": 1.0}'), ("default", "{}")])
def test_g5_what_ray_stores_of_an_application_can_be_carried(name, text):
    assert fault(name, raw(text)) is None


def test_g12_no_value_of_a_config_is_quoted():
    secret = {"name": "a", "runtime_env": {"env_vars": {"KEY": "hunter2"}}, "route_prefix": 5}

    assert "hunter2" not in fault("a", raw(json.dumps(secret)))


@given(st.text(max_size=5), st.recursive(st.none() | st.text() | st.floats(), st.lists, max_leaves=5), st.text())
def test_g5_whatever_can_be_carried_can_be_put_under_its_name(name, value, other):
    carried = raw(json.dumps({"name": name, other: value}))

    if fault(name, carried) is None:
        assert Application.parse(bytes(carried)).name == name
