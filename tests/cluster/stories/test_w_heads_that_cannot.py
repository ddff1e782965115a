"""w. A head has no sidecar, or its sidecar cannot do all: `holdfast check` says why in its first line that failed."""

import pytest

from tests.cluster import installation
from tests.cluster.manifests import application

CAUSES = {
    "the webhook was away": ({}, "has no sidecar: the webhook was away"),
    "a port clash": ({"head_ports": (28265,)}, "a container of it declares port 28265"),
    "a dashboard out of reach": ({"start": {"dashboard-host": "10.0.0.1"}}, "its dashboard-host is an address"),
    "the network of the host": ({"head": {"hostNetwork": True}}, "is on the host's network and cannot resolve"),
    "an option that another undoes": (
        {"annotations": {"holdfast.dev/update-in-place": "false"}, "strategy": "None"},
        "has no effect while spec.upgradeStrategy.type is None",
    ),
}


@pytest.mark.with_holdfast
@pytest.mark.told_with("1.6.2")
@pytest.mark.parametrize("way", CAUSES)
async def test_a_head_that_cannot_is_told_of_first(service, record, way):
    wishes, cause = CAUSES[way]
    if way == "the webhook was away":
        await installation.scale(0)
    try:
        await service.apply(application("static"), **wishes)
        await service.first_head()
    finally:
        await installation.scale(2)

    said = await installation.first_failing_with(cause, f"--namespace={service.namespace}", patience_s=90)

    record.note(said=said)
    record.judge(True, cause in said)
    assert cause in said
