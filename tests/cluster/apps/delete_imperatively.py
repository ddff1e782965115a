"""`python3 delete_imperatively.py NAME`: a developer's `serve.delete`, inside the cluster."""

import sys

import ray
from ray import serve

ray.init(address="auto", log_to_driver=False)
serve.delete(sys.argv[1])
