"""A cluster as `holdfast check` sees it, where everything is well; a test changes what it is about."""

import copy
import datetime as dt

from certs import authority
from certs.place import Place
from certs.renewal import Terms
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


def head(*, sidecar=True, status=None, labels=None):
    containers = [{"name": "ray-head", "env": []}]
    spec = {
        "containers": containers,
        "initContainers": [{"name": "holdfast-proxy", "restartPolicy": "Always"}] * sidecar,
    }
    about = {
        "name": "shop-head",
        "namespace": "team",
        "labels": {"ray.io/node-type": "head", "app": "shop", **(labels or {})},
    }
    return {
        "metadata": {**about, "ownerReferences": [OWNER]},
        "spec": spec,
        "status": RUNNING if status is None else status,
    }


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
    return {"metadata": about, "spec": {"template": {"spec": {"containers": [{"image": image}]}}}}


def answers():
    cluster = {"name": "shop-abcde", "namespace": "team", "labels": {"ray.io/originated-from-cr-name": "shop"}}
    return {
        "version": {"gitVersion": "v1.34.4", "major": "1", "minor": "34"},
        "definition": {"spec": {"versions": [{"name": "v1", "served": True}, {"name": "v1alpha1", "served": True}]}},
        "operators": [operator()],
        "configuration": {"metadata": {"name": "holdfast"}, "webhooks": [webhook()] * 3},
        "deployment": {"spec": {"replicas": 2}, "status": {"readyReplicas": 2}},
        "secret": {"data": BUNDLE.to_secret()},
        "readyz": "ok\n",
        "namespaces": [{"metadata": {"name": "team"}}],
        "rayservices": [{"metadata": {"name": "shop", "namespace": "team"}}],
        "rayclusters": [{"metadata": cluster}],
        "heads": [head()],
        "services": [service()],
        "policies": [],
        "rights": dict.fromkeys(INSTALLED_KINDS, True),
    }


def seen(**changes):
    return Seen(PLACE, copy.deepcopy(answers()) | changes)
