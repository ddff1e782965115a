"""The journal: the dynamic applications of every RayService, kept where no cluster of it can lose them.

``document`` is the journal of one RayService as a value, ``packing`` how it lies in Secrets, ``standing`` what the
RayService says of the caller; all pure. ``store`` reads and writes the Secrets, ``callers`` finds out who asks,
``api`` answers, ``trust`` takes the authority to the namespaces in which sidecars run.
"""
