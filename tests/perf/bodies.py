"""What Ray's dashboard answers and what KubeRay sends, at any number of applications. Pure.

Shapes: Ray 2.60 (`GET /api/serve/applications/`), with one deployment of one replica per application, about 1.2 KB
each. KubeRay's PUT is what Go's `json.Marshal` makes of `serveConfigV2`: compact, keys sorted at every level.
"""

import json

VARIES = b'"num_control_loops": 1000000000'
"""In every answer of Ray 2.60, and different in each: no two polls return the same bytes."""

NODE = "429826a974381e195aafaa4c7adf274ccee3da0c533acdbd8febbb72"


def names(kind: str, count: int) -> list[str]:
    """``count`` names such as ``static-00007``; of one kind, a longer list begins with the shorter one."""
    return [f"{kind}-{number:05}" for number in range(count)]


def config(name: str, *, revision: int = 0) -> dict:
    """One application as its owner wrote it; ``revision`` makes it differ from the last one PUT.

    The arguments hold what a careless JSON round trip breaks: 1.0, an integer over 2**53, an empty list.
    """
    return {
        "name": name,
        "route_prefix": f"/{name}",
        "import_path": "models.text:build",
        "runtime_env": {"env_vars": {"MODEL": name}},
        "args": {"temperature": 1.0, "seed": 12345678901234567890, "stop": [], "revision": revision},
    }


def application(name: str) -> dict:
    """The same application as Ray's GET shows it when it runs."""
    replica = {
        "node_id": NODE,
        "node_ip": "127.0.0.1",
        "actor_id": "b9bef082d66f991e8b0d572402000000",
        "actor_name": f"SERVE_REPLICA::{name}#Model#nkig9mwy",
        "worker_id": "cc2b5382bb3844347a48d394a5851571313f5b76262df654920a0c72",
        "replica_id": "nkig9mwy",
        "state": "RUNNING",
        "pid": 15689,
        "start_time_s": 1796081198.9873192,
    }
    deployment = {
        "name": "Model",
        "status": "HEALTHY",
        "status_trigger": "CONFIG_UPDATE_COMPLETED",
        "message": "",
        "deployment_config": {"name": "Model", "num_replicas": 1, "max_ongoing_requests": 5, "user_config": None},
        "target_num_replicas": 1,
        "required_resources": {"CPU": 0.01},
        "replicas": [replica],
        "recent_dead_replicas": [],
    }
    return {
        "name": name,
        "route_prefix": f"/{name}",
        "docs_path": None,
        "status": "RUNNING",
        "message": "",
        "last_deployed_time_s": 1796081197.3589392,
        "deployed_app_config": config(name),
        "source": "declarative",
        "deployments": {"Model": deployment},
        "external_scaler_enabled": False,
    }


def running(*applications: str) -> bytes:
    """The body of Ray's GET while ``applications`` run, as Ray prints it: ASCII, a blank after each colon and comma."""
    answer = {
        "controller_info": {"node_id": NODE, "node_ip": "127.0.0.1", "actor_id": "3776d2cd9392c6b8681ff19202000000"},
        "proxy_location": "EveryNode",
        "http_options": {"host": "127.0.0.1", "port": 8000},
        "grpc_options": {},
        "proxies": {NODE: {"node_id": NODE, "node_ip": "127.0.0.1", "status": "HEALTHY"}},
        "applications": {name: application(name) for name in applications},
        "target_capacity": None,
        "target_groups": [],
        "controller_health_metrics": {"timestamp": 1796081207.7025886, "num_control_loops": 1000000000},
        "restores_unset_config_options": True,
    }
    return json.dumps(answer).encode()


def declaration(*applications: str, revision: int = 0) -> bytes:
    """The body of KubeRay's PUT that declares ``applications``."""
    body = {"applications": [config(name, revision=revision) for name in applications]}
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def changes(before: dict, after: dict) -> list[str]:
    """How ``after`` differs from ``before`` to a reader who tells 1 from 1.0, a line each: ``args.stop [] -> {}``."""
    found = []
    for key, old in before.items():
        new = after.get(key)
        if isinstance(old, dict) and isinstance(new, dict) and old:
            found += [f"{key}.{change}" for change in changes(old, new)]
        elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
            found.append(f"{key} {json.dumps(old)} -> {json.dumps(new)}")
    return found
