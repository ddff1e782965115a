"""What differs between Ray versions, as data. The rows say in which version a behaviour or a key first appears.

Sources: answers of real Ray, recorded in `tests/unit/fakes/captures` for the versions of `RECORDED`. Where a change
lies between two of those, the row names the version in which Ray's source has it, or else the first recorded one.
"""

from dataclasses import dataclass

Version = tuple[int, int, int]
ALWAYS: Version = (0, 0, 0)
RECORDED = ("2.9.3", "2.12.0", "2.34.0", "2.40.0", "2.47.1", "2.52.1", "2.60.0")

SINCE: dict[str, Version] = {
    "a PUT keeps imperative apps": (2, 11, 0),
    "a deletion outlives the end of a build": (2, 52, 1),
    "apps show their source": (2, 39, 0),
    "the version names the session": (2, 40, 0),
    "modules are subprocesses": (2, 45, 0),
    "api_type filters": (2, 50, 0),
    "autoscaling policies are code": (2, 51, 0),
    "a missing User-Agent is fine": (2, 51, 2),
    "Origin and the like mark a browser": (2, 51, 2),
    "tokens": (2, 52, 0),
    "request routers are code": (2, 52, 0),
    "validation errors are pydantic 2's": (2, 60, 0),
    "browsers may only read": (2, 54, 0),
    "deployment actors are code": (2, 55, 0),
    "browsers see env_vars redacted": (2, 59, 0),
    "an empty answer has no deploy_mode": (2, 59, 0),
}
LOOKUP_TIMEOUT_S: tuple[tuple[Version, float], ...] = ((ALWAYS, 3.0), ((2, 40, 0), 60.0))
"""How long the dashboard looks for the Serve controller in a silent GCS before it says that no Serve runs."""

Keys = tuple[tuple[str, Version], ...]
TOP: Keys = (
    ("controller_info", ALWAYS),
    ("proxy_location", ALWAYS),
    ("http_options", ALWAYS),
    ("grpc_options", ALWAYS),
    ("proxies", ALWAYS),
    ("applications", ALWAYS),
    ("target_capacity", ALWAYS),
    ("target_groups", (2, 45, 0)),
    ("controller_health_metrics", (2, 56, 0)),
    ("restores_unset_config_options", (2, 60, 0)),
)
APP: Keys = (
    ("name", ALWAYS),
    ("route_prefix", ALWAYS),
    ("docs_path", ALWAYS),
    ("status", ALWAYS),
    ("message", ALWAYS),
    ("last_deployed_time_s", ALWAYS),
    ("deployed_app_config", ALWAYS),
    ("source", SINCE["apps show their source"]),
    ("deployments", ALWAYS),
    ("external_scaler_enabled", (2, 53, 0)),
    ("deployment_topology", (2, 53, 0)),
)
DEPLOYMENT: Keys = (
    ("name", ALWAYS),
    ("status", ALWAYS),
    ("status_trigger", ALWAYS),
    ("message", ALWAYS),
    ("deployment_config", ALWAYS),
    ("target_num_replicas", (2, 12, 0)),
    ("required_resources", (2, 47, 1)),
    ("replicas", ALWAYS),
    ("recent_dead_replicas", (2, 60, 0)),
)
ACTOR: Keys = (
    ("node_id", ALWAYS),
    ("node_ip", ALWAYS),
    ("node_instance_id", (2, 47, 1)),
    ("actor_id", ALWAYS),
    ("actor_name", ALWAYS),
    ("worker_id", ALWAYS),
    ("log_file_path", ALWAYS),
)
CONFIG: Keys = (  # of one application, in the order in which Ray prints it back
    ("name", ALWAYS),
    ("route_prefix", ALWAYS),
    ("import_path", ALWAYS),
    ("runtime_env", ALWAYS),
    ("deployments", ALWAYS),
    ("autoscaling_policy", (2, 51, 0)),
    ("args", ALWAYS),
    ("logging_config", ALWAYS),
    ("external_scaler_enabled", (2, 53, 0)),
)
DEPLOYMENT_CONFIG: Keys = (
    ("name", ALWAYS),
    ("num_replicas", ALWAYS),
    ("max_concurrent_queries", ALWAYS),
    ("max_ongoing_requests", (2, 12, 0)),
    ("max_queued_requests", (2, 12, 0)),
    ("backpressure_config", (2, 60, 0)),
    ("user_config", ALWAYS),
    ("autoscaling_config", ALWAYS),
    ("graceful_shutdown_wait_loop_s", ALWAYS),
    ("graceful_shutdown_timeout_s", ALWAYS),
    ("health_check_period_s", ALWAYS),
    ("health_check_timeout_s", ALWAYS),
    ("ray_actor_options", ALWAYS),
    ("placement_group_bundles", ALWAYS),
    ("placement_group_strategy", ALWAYS),
    ("max_replicas_per_node", ALWAYS),
    ("logging_config", ALWAYS),
    ("request_router_class", (2, 47, 1)),
    ("request_router_config", (2, 52, 1)),
    ("deployment_actors", (2, 55, 0)),
    ("rolling_update_percentage", (2, 60, 0)),
    ("max_surge_percent", (2, 60, 0)),
)
GONE_IN: dict[str, Version] = {"max_concurrent_queries": (2, 34, 0), "request_router_class": (2, 52, 1)}
DEFAULTS: dict[str, object] = {  # what a deployment shows for what no config sets
    "max_concurrent_queries": 100,
    "max_ongoing_requests": 5,
    "max_queued_requests": -1,
    "backpressure_config": {"status_code": 503, "retry_after_s": None},
    "user_config": None,
    "graceful_shutdown_wait_loop_s": 2.0,
    "graceful_shutdown_timeout_s": 20.0,
    "health_check_period_s": 10.0,
    "health_check_timeout_s": 30.0,
    "request_router_class": "ray.serve._private.request_router:PowerOfTwoChoicesRequestRouter",
    "request_router_config": {"request_routing_stats_period_s": 10.0},
    "rolling_update_percentage": 0.2,
    "max_surge_percent": 0,
}


@dataclass(frozen=True, slots=True)
class RayVersion:
    """One Ray version: which behaviours and which keys it has."""

    text: str

    @property
    def number(self) -> Version:
        major, minor, patch = (int(part) for part in self.text.split("."))
        return major, minor, patch

    def has(self, behaviour: str) -> bool:
        """Whether this version behaves as a row of `SINCE` says."""
        return self.number >= SINCE[behaviour]

    def keys(self, table: Keys) -> tuple[str, ...]:
        """The keys of a table that this version knows, in its order."""
        return tuple(key for key, since in table if since <= self.number < GONE_IN.get(key, (99, 0, 0)))

    def pick(self, table: Keys, values: dict) -> dict:
        """Those of the values whose keys this version knows, in its order."""
        return {key: values[key] for key in self.keys(table) if key in values}

    @property
    def lookup_timeout_s(self) -> float:
        return max((since, seconds) for since, seconds in LOOKUP_TIMEOUT_S if since <= self.number)[1]
