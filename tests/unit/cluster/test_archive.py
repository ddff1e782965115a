"""An image archive names everything by its digest: one wrong byte and no runtime takes it."""

import hashlib
import io
import json
import tarfile

import pytest

from tests.cluster.node.archive import write_archive, write_layer

NAME = "docker.io/library/greeting:1"


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "hello").write_text("hello")
    write_layer(tmp_path / "layer.tar", {"bin/hello": tmp_path / "hello"})
    out = io.BytesIO()
    write_archive(out, NAME, [tmp_path / "layer.tar"], {"Cmd": ["/bin/hello"]})
    with tarfile.open(fileobj=io.BytesIO(out.getvalue())) as members:
        return {member.name: members.extractfile(member).read() for member in members}


def blob(archive, descriptor):
    content = archive["blobs/" + descriptor["digest"].replace(":", "/")]
    assert descriptor["size"] == len(content)
    return content


def test_every_blob_is_named_by_its_digest(archive):
    blobs = {name.rpartition("/")[2]: content for name, content in archive.items() if name.startswith("blobs/")}

    assert len(blobs) == 3  # the layer, the config, the manifest
    assert all(digest == hashlib.sha256(content).hexdigest() for digest, content in blobs.items())


def test_the_index_leads_to_the_files(archive):
    [listed] = json.loads(archive["index.json"])["manifests"]
    manifest = json.loads(blob(archive, listed))
    [layer] = manifest["layers"]
    config = json.loads(blob(archive, manifest["config"]))

    assert listed["annotations"]["io.containerd.image.name"] == NAME
    assert [layer["digest"]] == config["rootfs"]["diff_ids"]
    assert config["config"]["Cmd"] == ["/bin/hello"]
    with tarfile.open(fileobj=io.BytesIO(blob(archive, layer))) as files:
        assert files.extractfile("bin/hello").read() == b"hello"
        assert files.getmember("bin/hello").uid == 0
