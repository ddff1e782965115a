"""Whose a RayCluster is, in every KubeRay's words."""

import pytest

from webhook.heads import rayservice_of

OWNED = [{"apiVersion": "ray.io/v1", "kind": "RayService", "name": "shop"}]


@pytest.mark.parametrize(
    ("about", "rayservice"),
    [
        ({"ownerReferences": OWNED}, "shop"),
        ({"labels": {"ray.io/service": "shop"}}, "shop"),
        ({"labels": {"ray.io/originated-from-crd": "RayService", "ray.io/originated-from-cr-name": "shop"}}, "shop"),
        ({"labels": {"ray.io/originated-from-crd": "RayJob", "ray.io/originated-from-cr-name": "train"}}, None),
        ({"ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "train"}]}, None),
        ({"ownerReferences": [{"apiVersion": "other/v1", "kind": "RayService", "name": "x"}]}, None),
        ({}, None),
    ],
    ids=["owner", "kuberay-1.0", "kuberay-1.1", "rayjob-label", "rayjob-owner", "other-group", "own"],
)
def test_the_rayservice_of_a_raycluster(about, rayservice):
    assert rayservice == rayservice_of({"metadata": about})
