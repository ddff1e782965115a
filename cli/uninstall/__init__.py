"""`holdfast uninstall`: leave a cluster, in the order that hurts nobody."""
