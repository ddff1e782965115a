"""s. Somebody breaks it, one way after the other. `holdfast check` names the cause in its first line that failed."""

import asyncio

import pytest

from tests.cluster import installation
from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import application

RULES = ("patch", "clusterrole", "holdfast-webhook", "--type=json", "--patch")
VERBS = '[{{"op": "replace", "path": "/rules/3/verbs", "value": ["{}"]}}]'
DENY = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "deny"},
    "spec": {"podSelector": {}},
}
CAUSES = {
    "nothing": "all checks passed",
    "the webhook scaled to 0": "the webhook is scaled to 0",
    "RBAC removed": "the webhook may not create tokenreviews",
    "a NetworkPolicy": "no NetworkPolicy lets anybody reach the sidecar",
    "no label": "does not take part",
    "all mended": "all checks passed",
}


@pytest.mark.with_holdfast
async def test_whoever_breaks_it_is_told_the_cause_first(service, record):
    head = await service.start(application("static"))
    await head.upsert(application("by-rest"))
    mine, said = f"--namespace={service.namespace}", {}

    async def tell(what):
        said[what] = await installation.first_failing(mine)

    await tell("nothing")
    await installation.scale(0)
    await tell("the webhook scaled to 0")
    await installation.scale(2)
    await kubectl(*RULES, VERBS.format("get"))
    await tell("RBAC removed")
    await kubectl(*RULES, VERBS.format("create"))
    await kubectl("apply", mine, "--filename=-", feed=DENY)
    await tell("a NetworkPolicy")
    await kubectl("delete", "networkpolicy", "deny", mine)
    await kubectl("label", "namespace", service.namespace, "holdfast.dev/inject-")
    await tell("no label")
    await kubectl("label", "namespace", service.namespace, "holdfast.dev/inject=enabled")
    await asyncio.sleep(45)  # the sidecar asks the journal again, which it could not
    await tell("all mended")

    right = {what: CAUSES[what] in line for what, line in said.items()}
    record.note(said=said)
    record.judge(dict.fromkeys(CAUSES, True), right)
    assert dict.fromkeys(CAUSES, True) == right, said
