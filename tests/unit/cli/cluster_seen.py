"""A cluster as `holdfast check` sees it, where everything is well; a test changes what it is about."""

import copy
import datetime as dt

from certs import authority
from certs.place import Place
from certs.renewal import Terms
from cli.check import grants
from cli.check.seen import INSTALLED_KINDS, Seen

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
PLACE = Place()
BUNDLE = authority.first(PLACE.names(), Terms(), NOW)
OTHER = authority.first(PLACE.names(), Terms(), NOW)
CALLED = {"service": {"namespace": "holdfast", "name": "holdfast-webhook"}}
OWNER = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "shop-abcde"}
RUNNING = {"initContainerStatuses": [{"name": "holdfast-proxy", "state": {"running": {}}}]}


def webhook(**changes):
    return {
        "name": "pods",
        "failurePolicy": "Ignore",
        "clientConfig": {**CALLED, "caBundle": BUNDLE.to_secret()["ca.crt"]},
    } | changes


def head(*, sidecar=True, status=None, made="2026-12-01T11:00:00Z", ray=None, audience="holdfast", **spec):
    """A head pod, as the webhook leaves it."""
    env = [{"name": "HOLDFAST_JOURNAL_URL", "value": "https://holdfast"}]
    ours = {"name": "holdfast-proxy", "image": "holdfast:1", "restartPolicy": "Always", "env": env}
    token = {"serviceAccountToken": {"audience": audience, "path": "token"}}
    volumes = [{"name": "holdfast-token", "projected": {"sources": [{"configMap": {"name": "holdfast-ca"}}, token]}}]
    about = {
        "name": "shop-head",
        "namespace": "team",
        "labels": {"ray.io/node-type": "head", "app": "shop"},
        "creationTimestamp": made,
        "annotations": {"holdfast.dev/rayservice": "shop"} if sidecar else {},
    }
    return {
        "metadata": {**about, "ownerReferences": [OWNER]},
        "spec": {
            "containers": [{"name": "ray-head", "env": [], **(ray or {})}],
            **({"initContainers": [ours], "volumes": volumes} if sidecar else {}),
            **spec,
        },
        "status": RUNNING if status is None else status,
    }


def status(came="2026-12-01T11:59:58+00:00", **changes):
    """What the sidecar says."""
    journal = {"reachable": True, "problem": None, "revision": 3}
    dynamic = [{"name": "model", "journal": "written"}]
    return {"kuberay_last_request": came, "journal": journal, "dynamic": dynamic, **changes}


def rayservice(**more):
    return {"metadata": {"name": "shop", "namespace": "team", **more.pop("metadata", {})}, **more}


def service(port=28265):
    about = {
        "name": "shop-head-svc",
        "namespace": "team",
        "labels": {"ray.io/node-type": "head"},
        "ownerReferences": [OWNER],
    }
    return {"metadata": about, "spec": {"clusterIP": "None", "ports": [{"name": "dashboard", "port": port}]}}


def policy(**spec):
    return {
        "metadata": {"name": "deny", "namespace": "team"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]} | spec,
    }


def operator(image="rayproject/kuberay-operator:v1.6.2"):
    about = {"name": "kuberay-operator", "namespace": "default"}
    spec = {"template": {"spec": {"containers": [{"image": image}]}}}
    return {"metadata": about, "spec": spec, "status": {"readyReplicas": 1}}


def deployment(replicas=2, ready=2, made="2026-12-01T10:00:00Z", image="holdfast:1"):
    env = [{"name": "HOLDFAST_WEBHOOK_SIDECAR_IMAGE", "value": image}]
    container = {"name": "webhook", "env": env, "ports": [{"name": "https", "containerPort": 9443}]}
    template = {"metadata": {"labels": {"app.kubernetes.io/name": "holdfast"}}, "spec": {"containers": [container]}}
    about = {"name": "holdfast-webhook", "namespace": "holdfast", "creationTimestamp": made}
    counted = {"readyReplicas": ready} if ready else {}
    return {"metadata": about, "spec": {"replicas": replicas, "template": template}, "status": counted}


def answers():
    cluster = {"name": "shop-abcde", "namespace": "team", "labels": {"ray.io/originated-from-cr-name": "shop"}}
    return {
        "version": {"gitVersion": "v1.34.4", "major": "1", "minor": "34"},
        "definition": {"spec": {"versions": [{"name": "v1", "served": True}, {"name": "v1alpha1", "served": True}]}},
        "operators": [operator()],
        "configuration": {"metadata": {"name": "holdfast"}, "webhooks": [webhook()] * 3},
        "deployment": deployment(),
        "secret": {"data": BUNDLE.to_secret()},
        "readyz": "ok\n",
        "namespaces": [{"metadata": {"name": "team"}}],
        "rayservices": [rayservice()],
        "rayclusters": [{"metadata": cluster}],
        "heads": [head()],
        "services": [service()],
        "policies": [],
        "rights": dict.fromkeys(INSTALLED_KINDS, True),
        "grants": dict.fromkeys(grants.needed(PLACE, ["team"], keeps_certificates=True), True),
        "statuses": {("team", "shop-head"): status()},
        "journals": {("team", "shop"): True},
        "clock": NOW,
    }


def seen(**changes):
    return Seen(PLACE, copy.deepcopy(answers()) | changes)
