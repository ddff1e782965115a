"""q. The namespace enforces PodSecurity "restricted". The head with its sidecar starts, and starts again."""

import pytest

from tests.cluster import sidecar
from tests.cluster.fates import running
from tests.cluster.manifests import application

ENFORCED = {"pod-security.kubernetes.io/enforce": "restricted"}
APPS = {"static", "by-rest"}


@pytest.mark.with_holdfast
async def test_a_restricted_namespace_takes_the_sidecar(api, service, record):
    await api.merge(f"/api/v1/namespaces/{service.namespace}", {"metadata": {"labels": ENFORCED}})
    head = await service.start(application("static"), restricted=True)
    await head.deploy_by_rest(application("by-rest"))
    await head.runs(*APPS)
    forms = [sidecar.form(await head.pod_object())]

    await head.die("deleted")
    head = await service.next_head(head)
    forms.append(sidecar.form(await head.pod_object()))
    runs = running(await head.runs(*APPS, patience_s=120))

    record.note(forms_of_the_heads=forms, runs_in_the_end=sorted(runs))
    record.judge((True, APPS), ("none" not in forms, runs))
    assert "none" not in forms
    assert runs == APPS
