"""The overlay that the stories install is the one that stands in docs/install.md."""

import pytest
import yaml

from tests.cluster.installation import own_image_overlay
from tests.cluster.node.paths import REPOSITORY


def test_the_documented_overlay_names_the_image_for_the_webhook_and_for_the_sidecar():
    page = (REPOSITORY / "docs" / "install.md").read_text()

    overlay = yaml.safe_load(own_image_overlay(page, "here/holdfast:test"))

    patch = yaml.safe_load(overlay["patches"][0]["patch"])
    (container,) = patch["spec"]["template"]["spec"]["containers"]
    sidecar = {"name": "HOLDFAST_WEBHOOK_SIDECAR_IMAGE", "value": "here/holdfast:test"}
    assert (container["image"], container["env"]) == ("here/holdfast:test", [sidecar])
    assert overlay["resources"] == ["../../../manifests/base"]


def test_a_page_without_an_overlay_is_an_error_that_says_so():
    with pytest.raises(LookupError, match=r"install\.md shows no overlay"):
        own_image_overlay("# Install", "here/holdfast:test")


def test_another_versions_page_is_read_as_well():
    page = (REPOSITORY / "docs" / "install.md").read_text().replace("YOUR/holdfast:0.1.0", "YOUR/holdfast:7.8.9-rc.1")

    overlay = own_image_overlay(page, "here/holdfast:previous")

    assert overlay.count("here/holdfast:previous") == 2
    assert "YOUR" not in overlay
