"""What keeps dynamic applications over the life of a cluster: a copy of them here, and the journal outside.

``copy`` holds what is known, on the disk too; ``client`` speaks to the journal, ``syncing`` says when; ``observing``
sees changes in what Ray shows, ``carrying`` brings here what does not run here, ``arrivals`` says what KubeRay has to
wait for. What any of it means is decided in ``serveconfig.localcopy``, ``changing`` and ``following``.
"""
