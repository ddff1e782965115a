"""A head Service leads to the sidecar if, and only if, its head has one."""

import pytest

from tests.unit.webhook.manifests import pod, service
from webhook import services
from webhook.notices import Reason
from webhook.repairs import repair, undo

WITH, WITHOUT = pod(sidecar=True, annotations={"holdfast.dev/rayservice": "shop"}), pod()
TO_RAY, TO_SIDECAR = service(), services.redirect(service())


@pytest.mark.parametrize(
    ("made", "pods", "reason"),
    [
        (TO_RAY, [], None),
        (TO_SIDECAR, [], None),
        (TO_RAY, [WITHOUT], None),
        (TO_SIDECAR, [WITH], None),
        (TO_SIDECAR, [WITHOUT], Reason.RESTORED_SERVICE),
        (TO_RAY, [WITH], Reason.REDIRECTED_SERVICE),
        (TO_SIDECAR, [WITH, WITHOUT], Reason.RESTORED_SERVICE),
        (TO_SIDECAR, [pod(cluster="other")], None),
        (TO_SIDECAR, [pod(deletionTimestamp="now")], None),
        (TO_SIDECAR, [pod(phase="Failed")], None),
        (TO_SIDECAR, [WITH, pod(deletionTimestamp="now")], None),
        ({**TO_RAY, "spec": {"ports": [{"name": "serve", "port": 8000}]}}, [WITH], None),
        (service(labels={}), [WITHOUT], None),
    ],
)
def test_what_is_wrong_is_put_right(made, pods, reason):
    found = repair(made, pods)

    assert reason == (found.notice.reason if found else None)
    assert found is None or services.is_redirected(found.service) is (reason is Reason.REDIRECTED_SERVICE)


def test_a_repair_leaves_nothing_to_repair():
    for made, pods in ((TO_SIDECAR, [WITHOUT]), (TO_RAY, [WITH])):
        found = repair(made, pods)

        assert found is not None
        assert repair(found.service, pods) is None


def test_a_repair_names_the_version_it_was_made_for():
    found = repair(TO_SIDECAR, [WITHOUT])

    assert found is not None
    assert found.merge_patch()["metadata"] == {"resourceVersion": "7", "annotations": {"holdfast.dev/redirected": None}}


def test_undoing_leads_back_to_ray_whatever_the_head_has():
    found = undo(TO_SIDECAR)

    assert found is not None
    assert found.service["spec"] == TO_RAY["spec"]
    assert undo(TO_RAY) is None
