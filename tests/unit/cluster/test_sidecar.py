"""What the stories tell of a sidecar is read from the pod and from its metrics."""

import pytest

from tests.cluster.sidecar import CONTAINER, form, image, puts_by_kuberay, restarts, status
from webhook import names

OURS, RAYS = {"name": CONTAINER}, {"name": "ray-head"}


def test_the_sidecar_bears_the_name_that_the_webhook_gives_it():
    assert names.CONTAINER == CONTAINER


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"initContainers": [OURS], "containers": [RAYS]}, "native"),
        ({"containers": [RAYS, OURS]}, "regular"),
        ({"initContainers": [{"name": "other"}], "containers": [RAYS]}, "none"),
    ],
    ids=["an init container", "a container", "neither"],
)
def test_its_form_is_where_it_stands(spec, expected):
    assert form({"spec": spec}) == expected


@pytest.mark.parametrize("place", ["initContainers", "containers"])
def test_its_image_is_read_wherever_it_stands(place):
    spec = {"containers": [RAYS | {"image": "ray:1"}]}
    spec[place] = [*spec.get(place, []), OURS | {"image": "holdfast:1"}]

    assert image({"spec": spec}) == "holdfast:1"


def test_a_pod_without_it_has_no_image_of_it():
    with pytest.raises(LookupError, match="head has no holdfast-proxy"):
        image({"metadata": {"name": "head"}, "spec": {"containers": [RAYS]}})


def test_restarts_of_every_container_count():
    status = {"initContainerStatuses": [{"restartCount": 1}], "containerStatuses": [{"restartCount": 2}]}

    assert restarts({"status": status}) == 3


@pytest.mark.parametrize("where", ["initContainerStatuses", "containerStatuses"])
def test_what_the_kubelet_says_of_it_is_found_wherever_it_stands(where):
    told = {"name": CONTAINER, "restartCount": 2}
    pod = {"status": {"containerStatuses": [{"name": "ray-head"}]}}
    pod["status"][where] = [*pod["status"].get(where, ()), told]

    assert status(pod) == told


def test_a_pod_without_it_says_so():
    with pytest.raises(LookupError, match="head-1 has no holdfast-proxy"):
        status({"metadata": {"name": "head-1"}, "status": {"containerStatuses": [{"name": "ray-head"}]}})


def test_puts_by_kuberay_are_told_by_outcome_without_those_that_never_were():
    metrics = """
holdfast_puts_total{caller="kuberay",outcome="unchanged"} 2.0
holdfast_puts_total{caller="kuberay",outcome="refused"} 0.0
holdfast_puts_total{caller="other",outcome="forwarded"} 1.0
"""

    assert puts_by_kuberay(metrics) == {"unchanged": 2}
