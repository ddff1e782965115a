"""`make release`: the commit that is checked out becomes dist/, built twice, checked, with its sums.

python -m release --tools=FOLDER [--image-base=IMAGE]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from release import checks, parts
from release.image import image
from release.image import objection as image_objection
from release.source import ReleaseError, commit_at, disagreements, export, objection, version_of

REPOSITORY = Path(__file__).parents[1]
DIST = REPOSITORY / "dist"


def main() -> int:
    """The exit code: 0, or 1 with a sentence on why there is no release."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("--tools", type=Path, required=True, help="the environment of requirements/release.txt")
    parser.add_argument("--image-base", default="", help="NAME@sha256:... or oci-archive:FILE; empty: no image")
    options = parser.parse_args()
    try:
        release(options.tools, options.image_base)
    except ReleaseError as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    return 0


def release(tools: Path, base: str) -> None:
    """Fill dist/. It stays as it was if anything is wrong."""
    commit, version = commit_at(REPOSITORY), version_of(REPOSITORY)
    for why in (objection(commit, version), *disagreements(REPOSITORY), image_objection(base) if base else None):
        if why:
            raise ReleaseError(why)
    shop = parts.Workshop(version, commit.time_s, tools, base)
    with tempfile.TemporaryDirectory() as folder:
        built = []
        for name in ("once", "again"):
            tree, out = Path(folder) / name / "tree", Path(folder) / name / "dist"
            tree.mkdir(parents=True)
            out.mkdir()
            build(shop, export(REPOSITORY, commit.id, tree), out)
            built.append((tree, out))
        (tree, out), (_, again) = built
        check(shop, tree, out, again)
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(out, DIST)
    print(f"{version}, from {commit.id[:12]}, in dist/:\n{(DIST / checks.SUMS).read_text()}", end="")
    if not base:
        print("No image was made: name its base in IMAGE_BASE.")


def build(shop: parts.Workshop, tree: Path, out: Path) -> None:
    """Every part."""
    for part in (parts.python_packages, parts.chart, parts.bills_of_materials, *([image] if shop.base else [])):
        print(f"building {part.__name__.replace('_', ' ')}", flush=True)
        part(shop, tree, out)


def check(shop: parts.Workshop, tree: Path, out: Path, again: Path) -> None:
    """Everything that can be wrong with it."""
    checks.same_bytes(out, again)
    checks.metadata_can_be_read(shop, out)
    checks.bills_name_what_is_locked(tree, out)
    checks.wheel_can_be_installed(shop, tree, out, Path(sys.executable).with_name("uv"))
    checks.write_sums(out)


if __name__ == "__main__":
    sys.exit(main())
