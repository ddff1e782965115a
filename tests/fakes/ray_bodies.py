"""The bodies of Ray's GET answers, with the keys of each version. Pure."""

from tests.fakes.ray_config import replicas_wanted
from tests.fakes.ray_model import Actor, App, Cluster, Phase, Replica
from tests.fakes.ray_versions import ACTOR, APP, DEFAULTS, DEPLOYMENT, DEPLOYMENT_CONFIG, TOP

NODE_IP = "127.0.0.1"
CONTROLLER_NAME = "SERVE_CONTROLLER_ACTOR"
DEPLOYMENT_STATUS = {
    Phase.STARTING: ("UPDATING", "CONFIG_UPDATE_STARTED"),
    Phase.RUNNING: ("HEALTHY", "CONFIG_UPDATE_COMPLETED"),
    Phase.UNHEALTHY: ("UNHEALTHY", "HEALTH_CHECK_FAILED"),
    Phase.NOT_STARTED: ("UNHEALTHY", "REPLICA_STARTUP_FAILED"),
}


def no_serve(cluster: Cluster) -> dict:
    """What the dashboard says when no Serve runs, and also when it could not find out."""
    body = {"controller_info": {}, "proxies": {}, "applications": {}, "target_capacity": None}
    if cluster.version.has("an empty answer has no deploy_mode"):
        return body
    return {"deploy_mode": "MULTI_APP", **body}


def serve_details(cluster: Cluster, now: float, *, api_type: str = "", redact: bool = False) -> dict:
    """GET /api/serve/applications/ of a running Serve. Call `cluster.advance` first."""
    apps = {
        name: application(cluster, app, now, redact=redact)
        for name, app in cluster.apps.items()
        if api_type in ("", app.source)
    }
    proxy = f"SERVE_PROXY_ACTOR-{cluster.node_id}"
    full = {
        "controller_info": actor(cluster, cluster.controller, CONTROLLER_NAME, "/serve/controller.log"),
        "proxy_location": cluster.top.get("proxy_location", "EveryNode"),
        "http_options": cluster.top.get("http_options", {"host": NODE_IP, "port": 8000}),
        "grpc_options": cluster.top.get("grpc_options", {}),
        "proxies": {cluster.node_id: actor(cluster, cluster.proxy, proxy, "/serve/proxy.log") | {"status": "HEALTHY"}},
        "applications": apps,
        "target_capacity": cluster.top.get("target_capacity"),
        "target_groups": [{"targets": [], "route_prefix": "/", "protocol": "HTTP"}],
        "controller_health_metrics": {"timestamp": now},
        "restores_unset_config_options": True,
    }
    return cluster.version.pick(TOP, full)


def actor(cluster: Cluster, it: Actor | Replica, name: str, log: str) -> dict:
    full = {
        "node_id": cluster.node_id,
        "node_ip": NODE_IP,
        "node_instance_id": "",
        "actor_id": it.actor_id,
        "actor_name": name,
        "worker_id": f"{it.pid:056x}",
        "log_file_path": log,
    }
    return cluster.version.pick(ACTOR, full)


def application(cluster: Cluster, app: App, now: float, *, redact: bool) -> dict:
    """One application. Its `deployed_app_config` is what the last PUT stored, not what runs."""
    stored = cluster.stored.get(app.name)
    built = app.phase not in {Phase.BUILDING, Phase.NOT_BUILT, Phase.DELETING}
    full = {
        "name": app.name,
        "route_prefix": app.route_prefix,
        "docs_path": None,
        "status": app.status(now),
        "message": message(app),
        "last_deployed_time_s": app.deployed_s,
        "deployed_app_config": redacted(stored) if redact and stored else stored,
        "source": app.source,
        "deployments": {name: deployment(cluster, app, name, redact=redact) for name in app.replicas if built},
        "external_scaler_enabled": app.config.get("external_scaler_enabled", False),
        "deployment_topology": topology(app) if built else None,
    }
    return cluster.version.pick(APP, full)


def message(app: App) -> str:
    if app.phase is Phase.NOT_STARTED:
        return f"Failed to update the deployments {list(app.replicas)}."
    if app.phase is Phase.NOT_BUILT:
        return "Deploying app failed:\nTraceback (most recent call last):\n  ...\nAttributeError: no such attribute"
    return ""


def deployment(cluster: Cluster, app: App, name: str, *, redact: bool) -> dict:
    status, trigger = DEPLOYMENT_STATUS[app.phase]
    config = deployment_config(cluster, app, name)
    full = {
        "name": name,
        "status": status,
        "status_trigger": trigger,
        "message": "",
        "deployment_config": redacted(config) if redact else config,
        "target_num_replicas": replicas_wanted(app.config, name, None),
        "required_resources": {"CPU": 0.01},
        "replicas": [replica(cluster, app, name, one) for one in app.replicas[name]],
        "recent_dead_replicas": [],
    }
    return cluster.version.pick(DEPLOYMENT, full)


def deployment_config(cluster: Cluster, app: App, name: str) -> dict:
    """What a deployment runs with: defaults, then its config; the application's runtime_env reaches its actors."""
    mine = next((one for one in app.config.get("deployments", []) if one["name"] == name), {})
    options = {"num_cpus": 0.01, **(mine.get("ray_actor_options") or {})}
    if environment := app.config.get("runtime_env"):
        options["runtime_env"] = environment
    full = {**DEFAULTS, "num_replicas": 1, **mine, "name": name, "ray_actor_options": options}
    return cluster.version.pick(DEPLOYMENT_CONFIG, full)


def replica(cluster: Cluster, app: App, deployment_name: str, one: Replica) -> dict:
    name = f"SERVE_REPLICA::{app.name}#{deployment_name}#{one.replica_id}"
    log = f"/serve/replica_{app.name}_{deployment_name}_{one.replica_id}.log"
    state = "STARTING" if app.phase in {Phase.STARTING, Phase.NOT_STARTED} else "RUNNING"
    times = {"replica_id": one.replica_id, "state": state, "pid": one.pid, "start_time_s": one.started_s}
    return actor(cluster, one, name, log) | times


def topology(app: App) -> dict:
    nodes = {
        name: {"name": name, "app_name": app.name, "outbound_deployments": [], "is_ingress": True}
        for name in app.replicas
    }
    return {"app_name": app.name, "nodes": nodes, "ingress_deployment": next(iter(app.replicas), None)}


def redacted(value):
    """A copy in which every value of every `env_vars` reads <redacted>; the names stay."""
    if isinstance(value, list):
        return [redacted(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: hidden(one) if key == "env_vars" and isinstance(one, dict) else redacted(one) for key, one in value.items()
    }


def hidden(variables: dict) -> dict:
    return dict.fromkeys(variables, "<redacted>")


def serve_controllers(cluster: Cluster) -> dict:
    """GET /api/v0/actors, asked for the actors named SERVE_CONTROLLER_ACTOR."""
    found = [
        {
            "actor_id": one.actor_id,
            "class_name": "ServeController",
            "state": one.state,
            "job_id": one.actor_id[-8:],
            "name": CONTROLLER_NAME,
            "node_id": cluster.node_id,
            "pid": one.pid,
            "ray_namespace": "serve",
        }
        for one in cluster.controllers
    ]
    return state_answer(found, total=len(found) + sum(map(len, cluster.apps)))


def nodes(cluster: Cluster) -> dict:
    """GET /api/v0/nodes: the head's id is new whenever the head is, in every version."""
    return state_answer(
        [{"node_id": cluster.node_id, "node_ip": NODE_IP, "is_head_node": True, "state": "ALIVE"}], total=1
    )


def state_answer(found: list[dict], total: int) -> dict:
    """The envelope of Ray's state API."""
    result = {
        "total": total,
        "num_after_truncation": total,
        "num_filtered": len(found),
        "result": found,
        "partial_failure_warning": "",
        "warnings": None,
    }
    return {"result": True, "msg": "", "data": {"result": result}}


def state_failure() -> dict:
    """What the state API says, with 500, while the GCS does not answer."""
    return {
        "result": False,
        "msg": "Failed to query data from GCS. It is due to (1) GCS is unexpectedly failed.",
        "data": {"result": None},
    }


def version(cluster: Cluster) -> dict:
    """GET /api/version."""
    body = {"version": "4", "ray_version": cluster.version.text, "ray_commit": "0" * 40}
    if cluster.version.has("the version names the session"):
        body["session_name"] = cluster.session_name
    return body
