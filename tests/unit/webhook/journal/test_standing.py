import pytest

from serveconfig.journal import Policy, Role
from webhook.journal import standing


def rayservice(active="", pending="", **annotations):
    status = {"activeServiceStatus": {"rayClusterName": active}, "pendingServiceStatus": {"rayClusterName": pending}}
    named = {f"holdfast.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"metadata": {"name": "shop", "annotations": named}, "status": status}


@pytest.mark.parametrize(
    ("active", "pending", "role"),
    [
        ("a", "", Role.ACTIVE),
        ("b", "a", Role.PENDING),
        ("", "a", Role.PENDING),
        ("a", "a", Role.ACTIVE),
        ("b", "c", Role.UNKNOWN),
        ("", "", Role.UNKNOWN),
    ],
)
def test_g6_a_cluster_has_the_traffic_or_is_to_get_it_as_kuberays_status_says(active, pending, role):
    assert standing.role(rayservice(active, pending), "a") is role


def test_without_a_status_nothing_is_known():
    assert standing.role({"metadata": {}}, "a") is Role.UNKNOWN


def test_g2_dynamic_is_what_a_glob_names_and_what_a_listed_writer_has_added():
    marked = rayservice(
        dynamic_apps="model-*, batch", dynamic_writers="robot", added_by='{"x": "robot", "y": "somebody"}'
    )

    assert standing.policy(marked) == Policy(("model-*", "batch", "x"), 600.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("1.5m", 90),
        (" 2h ", 7200),
        (None, None),
        ("soon", None),
        ("", None),
        ("9" * 400, None),
    ],
)
def test_g6_a_deadline_is_a_number_with_a_unit(text, seconds):
    assert standing.deadline(text) == seconds


def test_g6_a_deadline_that_cannot_be_read_is_the_usual_one_and_its_writer_is_told():
    unread = rayservice(arrival_deadline="soon")

    assert standing.policy(unread).arrival_deadline_s == 600
    assert "600, 90s, 10m or 1h" in standing.warning(unread)
    assert standing.warning(rayservice(arrival_deadline="5m")) is None
    assert standing.warning(rayservice()) is None
    assert standing.policy(rayservice(arrival_deadline="5m")).arrival_deadline_s == 300
