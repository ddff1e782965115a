import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serveconfig.document import MAX_DEPTH, Application, ServeConfig, check_text
from serveconfig.errors import InvalidServeConfigError

NESTED = "[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2)

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
names = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1, max_size=8)
applications = st.builds(
    lambda rest, name: {**rest, "name": name, "route_prefix": f"/{name}"},
    st.dictionaries(st.text(max_size=6), values, max_size=4),
    names,
)
configs = st.builds(
    lambda options, apps: {**options, "applications": apps},
    st.dictionaries(st.text(max_size=6), values, max_size=3),
    st.lists(applications, max_size=4),
)


@pytest.mark.parametrize(
    "value", ["1.0", "1", "1e22", "1E+22", "12345678901234567890", "-0.0", '"\\u00fc"', "[1, 2.50]"]
)
def test_g1_a_value_is_printed_in_the_bytes_it_came_in(value):
    raw = f'{{"name":"a","args":{{"x": {value}}},"import_path":"m:a"}}'.encode()

    printed = ServeConfig.parse(b'{"applications": [' + raw + b"]}").print()

    assert b'{"applications":[' + raw + b"]}" == printed


@given(configs)
def test_parse_and_print_keep_every_member_known_or_not(config):
    printed = ServeConfig.parse(json.dumps(config).encode()).print()

    assert config == json.loads(printed)


@given(configs)
def test_printing_is_stable(config):
    once = ServeConfig.parse(json.dumps(config).encode()).print()

    assert once == ServeConfig.parse(once).print()


@given(st.binary(max_size=200))
def test_any_bytes_parse_or_are_refused_with_our_error(body):
    try:
        ServeConfig.parse(body)
    except InvalidServeConfigError as error:
        assert str(error)  # noqa: PT017 - the other branch has nothing to assert


@pytest.mark.parametrize("body", [b"{}", b'{"applications": []}', b' {"applications":[]} '])
def test_a_config_may_declare_nothing(body):
    assert ServeConfig.parse(body).applications == ()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(b"", "not JSON", id="empty"),
        pytest.param(b'{"applications": [', "not JSON", id="truncated"),
        pytest.param(b"[]", "Expected `object`, got `array`", id="an array"),
        pytest.param(b"null", "Expected `object`, got `null`", id="null"),
        pytest.param(b'{"applications": null}', "Expected `array`, got `null`", id="applications null"),
        pytest.param(b'{"applications": {"name": "a"}}', "Expected `array`, got `object`", id="applications an object"),
        pytest.param(b'{"applications": [["name", "a"]]}', "Expected `object`, got `array`", id="an app as pairs"),
        pytest.param(b'{"applications": [{"name": 5}]}', "Expected `str`, got `int`", id="a name that is a number"),
        pytest.param(b'{"applications": [{"name": null}]}', "Expected `str`, got `null`", id="a name that is null"),
        pytest.param(
            b'{"applications": [{"route_prefix": 1}]}', "Expected `str | null`, got `int`", id="a wrong route"
        ),
        pytest.param(b'{"applications": [], "x": NaN}', "no NaN", id="NaN"),
        pytest.param(b'{"applications": [], "x": Infinity}', "no NaN", id="Infinity"),
        pytest.param(b'{"applications": [{"name": "\\ud800 and more"}]}', "lone surrogates", id="a lone surrogate"),
        pytest.param(b'\xef\xbb\xbf{"applications": []}', "not JSON", id="a byte order mark"),
        pytest.param('{"applications": []}'.encode("utf-16"), "not UTF-8", id="utf-16"),
        pytest.param(b'{"x": "\xff", "applications": []}', "not UTF-8: see byte 7", id="a byte that is no UTF-8"),
        pytest.param(b'{"x": %s}' % (b"[" * 200 + b"]" * 200), "deeper than 128", id="200 levels deep"),
        pytest.param(b'{"x": ' + b"[" * 200_000, "not JSON", id="200,000 brackets open"),
        pytest.param(b"[" * 200_000 + b"]" * 200_000, "deeper than 128", id="200,000 levels deep"),
        pytest.param(b'{"applications": [{"name": "\xc3\xbc"}]}', "not ASCII", id="a name that is not ASCII"),
        pytest.param(b'{"applications": []} x', "trailing", id="something after the end"),
        pytest.param(b"{'applications': []}", "not JSON", id="single quotes"),
    ],
)
def test_g4_a_body_that_cannot_be_read_is_refused_and_the_error_says_why(body, reason):
    with pytest.raises(InvalidServeConfigError, match=reason.replace("|", r"\|")):
        ServeConfig.parse(body)


def test_g12_the_error_quotes_no_value():
    with pytest.raises(InvalidServeConfigError) as refused:
        ServeConfig.parse(b'{"applications": [{"name": "a", "route_prefix": {"token": "s3cret"}}]}')

    assert "s3cret" not in str(refused.value)


def test_the_deepest_config_that_is_allowed_is_read():
    body = f'{{"x": [{NESTED}], "applications": []}}'.encode()

    assert {"x"} == set(ServeConfig.parse(body).options)


@pytest.mark.parametrize("text", ['"' + "[{" * 200 + '"', '"\\"' + "[" * 200 + '"', '"' + "\\\\" + '"' + "," + '"["'])
def test_brackets_in_strings_do_not_nest(text):
    check_text(f"[{text}]".encode())


def test_many_shallow_objects_do_not_nest():
    check_text(b"[" + b",".join([b'{"a":[]}'] * 1000) + b"]")


def test_of_a_key_that_stands_twice_the_last_counts_as_in_python():
    body = b'{"applications": [{"name": "a"}], "applications": [{"name": "b", "name": "c"}]}'

    assert [application.name for application in ServeConfig.parse(body).applications] == ["c"]


def test_a_key_may_be_spelled_with_escapes():
    assert Application.parse(b'{"n\\u0061me": "a"}').name == "a"


def test_an_application_without_a_name_is_default_and_answers_at_the_root():
    application = Application.parse(b'{"import_path": "m:a"}')

    assert (application.name, application.route_prefix) == ("default", "/")


def test_a_name_is_written_into_a_config_without_one():
    assert (
        b'{"name":"a","import_path": "m:a"}'.replace(b": ", b":")
        == Application.parse(b'{"import_path":"m:a"}').named("a").raw
    )


def test_a_config_for_another_name_is_refused():
    with pytest.raises(InvalidServeConfigError, match="for application 'a', the path for 'b'"):
        Application.parse(b'{"name": "a"}').named("b")


def test_a_config_that_has_the_name_stays_as_it_is():
    raw = b'{ "import_path" : "m:a", "name" : "a" }'

    assert raw == Application.parse(raw).named("a").raw
