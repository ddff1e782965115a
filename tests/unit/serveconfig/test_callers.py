import pytest

from serveconfig.callers import SERVE_PATH, Caller, Handling, caller, handling, is_browser


@pytest.mark.parametrize(
    ("query", "user_agent", "expected"),
    [
        ("", "Go-http-client/1.1", Caller.KUBERAY),
        ("", "Go-http-client/2.0", Caller.KUBERAY),
        ("api_type=declarative", "Go-http-client/1.1", Caller.KUBERAY),
        ("api_type=declarative", "curl/8", Caller.KUBERAY),
        ("api_type=DECLARATIVE", "curl/8", Caller.KUBERAY),
        ("x=1&api_type=declarative", "", Caller.KUBERAY),
        ("", "kuberay-operator", Caller.KUBERAY),
        ("", "kuberay-operator/v1.6.2", Caller.KUBERAY),
        ("", "", Caller.OTHER),
        ("", "python-requests/2", Caller.OTHER),
        ("", "my Go-http-client/1.1", Caller.OTHER),
        ("api_type=imperative", "curl/8", Caller.OTHER),
        ("api_type=", "curl/8", Caller.OTHER),
        ("api_type=imperative&api_type=declarative", "curl/8", Caller.OTHER),
    ],
)
def test_who_is_kuberay(query, user_agent, expected):
    assert expected is caller(query, user_agent)


@pytest.mark.parametrize(
    ("method", "path", "query", "by_kuberay", "by_others"),
    [
        ("GET", SERVE_PATH, "", Handling.VIEW, Handling.PASS),
        ("PUT", SERVE_PATH, "", Handling.DECLARE, Handling.UPSERT),
        ("PUT", SERVE_PATH, "force=true", Handling.DECLARE, Handling.UPSERT),
        ("DELETE", SERVE_PATH, "", Handling.PASS, Handling.SHUTDOWN),
        ("DELETE", SERVE_PATH, "force=true", Handling.PASS, Handling.PASS),
        ("DELETE", SERVE_PATH, "force=false", Handling.PASS, Handling.SHUTDOWN),
        ("HEAD", SERVE_PATH, "", Handling.PASS, Handling.PASS),
        ("PUT", SERVE_PATH.rstrip("/"), "", Handling.PASS, Handling.PASS),
        ("PUT", "/api/serve/deployments/", "", Handling.PASS, Handling.PASS),
        ("GET", "/-/status", "", Handling.OWN, Handling.OWN),
        ("DELETE", "/-/applications/a", "force=true", Handling.OWN, Handling.OWN),
        ("GET", "/-", "", Handling.PASS, Handling.PASS),
        ("POST", "/api/jobs/", "", Handling.PASS, Handling.PASS),
        ("OPTIONS", "*", "", Handling.PASS, Handling.PASS),
    ],
)
def test_what_is_done_with_a_request(method, path, query, by_kuberay, by_others):
    assert by_kuberay is handling(method, path, query, Caller.KUBERAY)
    assert by_others is handling(method, path, query, Caller.OTHER)


@pytest.mark.parametrize(
    ("names", "user_agent", "expected"),
    [
        ([], "Mozilla/5.0", True),
        (["origin"], "curl/8", True),
        (["sec-fetch-site"], "", True),
        (["host", "accept"], "curl/8", False),
        ([], "mozilla", False),
    ],
)
def test_what_has_the_marks_of_a_browser(names, user_agent, expected):
    assert expected is is_browser(names, user_agent)
