"""What counts as left over of Holdfast, of all that a cluster holds."""

import pytest

from tests.cluster.leftovers import ours


def an(kind, name, **about):
    return {"kind": kind, "metadata": {"name": name, "namespace": "team", **about}}


@pytest.mark.parametrize(
    ("each", "is_ours"),
    [
        (an("Secret", "shop-holdfast-journal"), True),
        (an("ConfigMap", "code"), False),
        (an("RayService", "shop", annotations={"holdfast.dev/added-by": "{}"}), True),
        (an("RayService", "shop", annotations={"team": "ours"}), False),
        (an("Role", "webhook", labels={"app.kubernetes.io/part-of": "holdfast"}), True),
        (an("Namespace", "team", labels={"holdfast.dev/inject": "enabled"}), True),
        (an("Pod", "shop-head", annotations={"holdfast.dev/rayservice": "shop"}), False),
        (an("Event", "holdfast-webhook.1"), False),
    ],
)
def test_a_name_a_label_or_an_annotation_gives_it_away(each, is_ours):
    assert bool(ours([each])) is is_ours
