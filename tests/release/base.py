"""A base image for a release on a machine that can ask no registry: `make release-rehearsal`.

python -m tests.release.base FILE     writes it as an OCI archive, made of this machine's own Debian packages
"""

import sys
from pathlib import Path

from tests.cluster.node.archive import write_archive
from tests.cluster.node.dockerfile import BASE
from tests.cluster.node.layers import debian

if __name__ == "__main__":
    with Path(sys.argv[1]).open("wb") as out:
        write_archive(
            out, BASE, [debian()], {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}
        )
