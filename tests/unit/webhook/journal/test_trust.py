import pytest

from tests.fakes.kubernetes import Kubernetes, connected
from webhook.journal.trust import Trust

PATH = "/api/v1/namespaces/team/configmaps/holdfast-ca"


@pytest.fixture
def kubernetes():
    return Kubernetes()


@pytest.fixture
async def api(kubernetes):
    async with connected(kubernetes) as api:
        yield api


async def test_g5_where_a_head_is_about_to_come_its_sidecar_finds_whom_to_trust(api, kubernetes):
    trust = Trust(api, lambda: b"PEM", set)
    trust.want("team")

    await trust.step()

    assert kubernetes.objects[PATH]["data"] == {"ca.crt": "PEM"}


async def test_g5_another_authority_reaches_every_namespace_with_heads(api, kubernetes):
    pems = [b"ONE"]
    trust = Trust(api, lambda: pems[0], lambda: {"team"})
    await trust.step()
    pems[0] = b"ONE AND TWO"

    await trust.step()

    assert kubernetes.objects[PATH]["data"] == {"ca.crt": "ONE AND TWO"}


async def test_what_is_right_is_looked_at_again_only_after_a_while(api, kubernetes):
    now = [1000.0]
    trust = Trust(api, lambda: b"PEM", lambda: {"team"}, clock=lambda: now[0])
    await trust.step()
    asked = len(kubernetes.requests)
    await trust.step()
    assert len(kubernetes.requests) == asked

    kubernetes.remove(PATH)
    now[0] += 301
    await trust.step()

    assert PATH in kubernetes.objects


async def test_g11_a_failure_is_tried_again(api, kubernetes):
    kubernetes.refuse["POST", "/api/v1/namespaces/team/configmaps"] = 403
    trust = Trust(api, lambda: b"PEM", set)
    trust.want("team")
    await trust.step()
    kubernetes.refuse.clear()

    await trust.step()

    assert PATH in kubernetes.objects


async def test_g11_a_namespace_in_which_no_head_has_come_is_not_asked_for_ever(api, kubernetes):
    kubernetes.refuse["POST", "/api/v1/namespaces/team/configmaps"] = 403
    now = [1000.0]
    trust = Trust(api, lambda: b"PEM", set, clock=lambda: now[0])
    trust.want("team")
    await trust.step()
    asked = len(kubernetes.requests)
    now[0] += 61

    await trust.step()

    assert asked > 0
    assert len(kubernetes.requests) == asked


async def test_g11_an_authority_that_is_no_text_ends_no_webhook(api, kubernetes):
    await Trust(api, lambda: b"\xff", lambda: {"team"}).step()

    assert PATH in kubernetes.objects


async def test_without_an_authority_nothing_is_written(api, kubernetes):
    trust = Trust(api, lambda: b"", lambda: {"team"})

    await trust.step()

    assert kubernetes.objects == {}
