"""Ways to break it: the cluster that `holdfast check` sees, and the first line that fails. docs/check.md shows them."""

import datetime as dt

from certs import authority
from certs.renewal import Terms
from cli.check.grants import Grant
from cli.check.seen import NotSeenError
from tests.unit.cli.cluster_seen import (
    NOW,
    PLACE,
    answers,
    deployment,
    head,
    operator,
    policy,
    rayservice,
    service,
    status,
)

DAY = dt.timedelta(days=1)
EARLIER, LATER = "2026-12-01T09:00:00Z", "2026-12-01T11:00:00Z"
PAST = authority.first(PLACE.names(), Terms(), NOW - 40 * DAY).to_secret()
AHEAD = authority.first(PLACE.names(), Terms(), NOW + dt.timedelta(hours=3)).to_secret()
AGAIN = " -> the next head gets one, at a time that suits: kubectl -n team delete pod shop-head"


def without(verb, resource):
    given = answers()["grants"]
    return {**given, next(each for each in given if (each.verb, each.resource) == (verb, resource)): False}


def with_certificate(bundle):
    configuration = answers()["configuration"]
    for each in configuration["webhooks"]:
        each["clientConfig"]["caBundle"] = bundle["ca.crt"]
    return {"secret": {"data": bundle}, "configuration": configuration}


WAYS = {
    "no label": (
        {"namespaces": []},
        (
            "no namespace takes part, and the RayServices are in team"
            " -> kubectl label namespace team holdfast.dev/inject=enabled"
        ),
    ),
    "the label on a wrong namespace": (
        {"namespaces": [{"metadata": {"name": "other"}}]},
        (
            "only other takes part, and the RayServices are in team"
            " -> kubectl label namespace team holdfast.dev/inject=enabled"
        ),
    ),
    "the webhook scaled to 0": (
        {"deployment": deployment(replicas=0, ready=0), "readyz": NotSeenError("no endpoints")},
        (
            "the webhook is scaled to 0: new heads get no sidecar, and there is no journal"
            " -> kubectl -n holdfast scale deploy/holdfast-webhook --replicas=2"
        ),
    ),
    "a NetworkPolicy before the sidecar": (
        {"policies": [policy()], "statuses": {("team", "shop-head"): status("2026-12-01T11:00:00+00:00")}},
        (
            "team/shop: no NetworkPolicy lets anybody reach the sidecar"
            " -> let KubeRay's operator in on port 28265, wherever deny lets it in on 8265"
        ),
    ),
    "a NetworkPolicy before the webhook": (
        {
            "policies": [{**policy(), "metadata": {"name": "deny", "namespace": "holdfast"}}],
            "readyz": NotSeenError("timeout"),
        },
        (
            "NetworkPolicy deny in namespace holdfast lets nobody reach the webhook"
            " -> let the API server in on its port https; it has no labels: give no `from`"
        ),
    ),
    "an expired certificate": (
        {**with_certificate(PAST), "readyz": NotSeenError("tls")},
        (
            "the webhook's certificate ended 10 days ago"
            " -> holdfast certs; kubectl -n holdfast logs deploy/holdfast-webhook"
        ),
    ),
    "a head without sidecar": (
        {"heads": [head(sidecar=False, made=LATER)], "services": [service(8265)]},
        f"team/shop: head shop-head has no sidecar: the webhook was away, or the namespace took no part yet{AGAIN}",
    ),
    "the Service put back by hand": (
        {"services": [service(8265)]},
        (
            "team/shop: head shop-head has a sidecar, but its Service leads past it"
            " -> the webhook mends it within 10 s; if not, read its log"
        ),
    ),
    "a port clash": (
        {
            "heads": [head(sidecar=False, ray={"ports": [{"containerPort": 28265}]})],
            "services": [service(8265)],
        },
        (
            "team/shop: head shop-head cannot have a sidecar: a container of it declares port 28265 or 28266, which "
            f"are the sidecar's: give that container another port{AGAIN}"
        ),
    ),
    "a dashboard that the sidecar cannot reach": (
        {
            "heads": [head(sidecar=False, ray={"args": ["ray start --head --dashboard-host=10.0.0.1"]})],
            "services": [service(8265)],
        },
        (
            "team/shop: head shop-head cannot have a sidecar: its dashboard-host is an address that the sidecar cannot "
            f'reach over loopback: set rayStartParams dashboard-host to "0.0.0.0"{AGAIN}'
        ),
    ),
    "the journal's Secret deleted": (
        {"journals": {("team", "shop"): False}},
        (
            "team/shop: the journal's Secret shop-holdfast-journal is gone"
            " -> nothing: the sidecar fills a new one within a minute; see who deletes Secrets there"
        ),
    ),
    "RBAC removed": (
        {"grants": without("create", "tokenreviews"), "deployment": deployment(ready=0)},
        "the webhook may not create tokenreviews -> its roles were changed: kubectl apply -k manifests/base",
    ),
    "RBAC removed in a namespace": (
        {"grants": without("update", "secrets") | {Grant("", "secrets", "get", "", "team"): False}},
        (
            "the webhook may not update secrets in namespace holdfast, get secrets in namespace team"
            " -> its roles were changed: kubectl apply -k manifests/base"
        ),
    ),
    "a wrong audience of the token": (
        {"heads": [head(audience="vault")]},
        (
            "team/shop: the token of head shop-head is for 'vault', and the journal takes 'holdfast'"
            " -> volume holdfast-token is the webhook's to write: kubectl -n team delete pod shop-head"
        ),
    ),
    "a token for the API server": (
        {"heads": [head(audience=None)]},
        (
            "team/shop: the token of head shop-head is for 'the API server', and the journal takes 'holdfast'"
            " -> volume holdfast-token is the webhook's to write: kubectl -n team delete pod shop-head"
        ),
    ),
    "the dashboard on another port": (
        {"heads": [head(ray={"args": ["ray start --head --dashboard-port=9000"]})]},
        (
            "team/shop: Ray's dashboard of head shop-head is on port 9000, and its sidecar asks 127.0.0.1:8265"
            " -> the next sidecar knows the port: kubectl -n team delete pod shop-head"
        ),
    ),
    "hostNetwork, and the port taken": (
        {"heads": [head(status={}, hostNetwork=True, nodeName="n1", dnsPolicy="ClusterFirstWithHostNet")]},
        (
            "team/shop: the sidecar of head shop-head does not run: on the host's network, another head or program on "
            "n1 may have port 28265 -> kubectl -n team logs shop-head -c holdfast-proxy"
        ),
    ),
    "hostNetwork, and no name resolves": (
        {"heads": [head(hostNetwork=True, dnsPolicy="ClusterFirst")]},
        (
            "team/shop: head shop-head is on the host's network and cannot resolve the webhook's Service: no journal"
            " -> set dnsPolicy: ClusterFirstWithHostNet in the head group's template"
        ),
    ),
    "KubeRay too old for an option": (
        {
            "operators": [operator("k:v1.2.2")],
            "rayservices": [rayservice(spec={"upgradeStrategy": {"type": "NewCluster"}})],
        },
        (
            "team/shop: KubeRay 1.2 does not know upgradeStrategy NewCluster, and goes on without it"
            " -> upgrade KubeRay to 1.3 or newer, or take it out"
        ),
    ),
    "KubeRay too old for the newest option": (
        {
            "operators": [operator("k:v1.4.2")],
            "rayservices": [rayservice(spec={"upgradeStrategy": {"type": "NewClusterWithIncrementalUpgrade"}})],
        },
        (
            "team/shop: KubeRay 1.4 does not know upgradeStrategy NewClusterWithIncrementalUpgrade, and goes on "
            "without it -> upgrade KubeRay to 1.5 or newer, or take it out"
        ),
    ),
    "an option that another one undoes": (
        {
            "rayservices": [
                rayservice(
                    metadata={"annotations": {"holdfast.dev/update-in-place": "false"}},
                    spec={"upgradeStrategy": {"type": "None"}},
                )
            ]
        },
        (
            'team/shop: holdfast.dev/update-in-place: "false" has no effect while spec.upgradeStrategy.type is None, '
            "with which KubeRay never makes a new cluster: set it to NewCluster -> kubectl -n team edit rayservice shop"
        ),
    ),
    "a clock that is ahead": (
        {"clock": NOW - dt.timedelta(hours=3)},
        (
            "this machine's clock is 3 h ahead of the API server's"
            " -> set both by NTP: certificates and tokens begin and end by them"
        ),
    ),
    "a clock that is behind": (
        {"clock": NOW + dt.timedelta(seconds=61)},
        (
            "this machine's clock is 1 min behind the API server's"
            " -> set both by NTP: certificates and tokens begin and end by them"
        ),
    ),
    "a node's clock that is ahead": (
        {**with_certificate(AHEAD), "readyz": NotSeenError("tls")},
        (
            "the webhook's certificate becomes good in 2 h only: its maker's clock is ahead of the API server's"
            " -> set the clocks of the nodes, then kubectl -n holdfast delete secret holdfast-webhook-tls"
        ),
    ),
    "no operator": (
        {"operators": [{**operator(), "status": {}}], "statuses": {("team", "shop-head"): status(None)}},
        (
            "the KubeRay operator default/kuberay-operator does not run: nobody sees to RayServices"
            " -> kubectl -n default describe deployment kuberay-operator"
        ),
    ),
    "KubeRay that goes another way": (
        {"statuses": {("team", "shop-head"): status("2026-12-01T11:50:00+00:00")}},
        (
            "team/shop: KubeRay has not come through the sidecar of head shop-head for 10 min"
            " -> the operator's log says why; does a NetworkPolicy of team keep it from port 28265?"
        ),
    ),
    "KubeRay that never came": (
        {"statuses": {("team", "shop-head"): status(None)}},
        (
            "team/shop: KubeRay has not come through the sidecar of head shop-head at all"
            " -> the operator's log says why; does a NetworkPolicy of team keep it from port 28265?"
        ),
    ),
    "a journal that does not answer": (
        {"statuses": {("team", "shop-head"): status(journal={"reachable": False, "problem": "403 Forbidden"})}},
        (
            "team/shop: the journal does not answer head shop-head: 403 Forbidden"
            " -> the sidecar keeps what changes and tries again; see the webhook's log"
        ),
    ),
}


def page():
    """docs/check.md, below its first paragraph."""
    lines = ["| what is broken | the first line that failed, and what to do |", "|---|---|"]
    for way, (_, line) in WAYS.items():
        lines.append(f"| {way} | {line.replace(' -> ', ' → ')} |")
    return "\n".join(lines)
