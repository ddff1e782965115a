"""`python3 run_imperatively.py NAME`: a developer's `serve.run`, inside the cluster. Ray holds no config for it."""

import sys

import ray
from ray import serve
from shop import build

name = sys.argv[1]
ray.init(address="auto", log_to_driver=False)
serve.run(build({"word": name}), name=name, route_prefix=f"/{name}")
