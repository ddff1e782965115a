import gzip
import io
import tarfile

import pytest

from release.archives import rewritten


def archive(names, **of_each):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(name)
            for key, value in of_each.items():
                setattr(entry, key, value)
            tar.addfile(entry, io.BytesIO(name.encode()))
    return out.getvalue()


@pytest.mark.parametrize("compressed", [True, False])
def test_the_same_files_are_the_same_bytes_whoever_wrote_them_and_when(compressed):
    one = archive(["b", "a"], mtime=1, uid=7, uname="anna", mode=0o600)
    other = archive(["a", "b"], mtime=2, gid=8, gname="staff", mode=0o664)

    assert rewritten(one, 99, compressed=compressed) == rewritten(other, 99, compressed=compressed)


def test_other_files_are_other_bytes():
    assert rewritten(archive(["a"]), 99, compressed=False) != rewritten(archive(["b"]), 99, compressed=False)


def test_content_names_and_what_can_be_run_are_kept():
    new = rewritten(archive(["run"], mode=0o755), 99, compressed=True)

    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(new))) as tar:
        (entry,) = tar.getmembers()
        assert tar.extractfile(entry).read() == b"run"
    assert (entry.name, entry.mode, entry.mtime, entry.uid) == ("run", 0o755, 99, 0)
