"""What Ray makes of the body of a PUT: a refusal in its own words, or the config that it will show again. Pure."""

import json
import math
from collections import Counter
from dataclasses import dataclass, field

from tests.fakes.ray_versions import CONFIG, DEPLOYMENT_CONFIG, RayVersion

MAX_BODY_BYTES = 100 * 1024 * 1024
TOP_LEVEL = ("proxy_location", "http_options", "grpc_options", "target_capacity", "logging_config")
FLOATS = {
    "graceful_shutdown_wait_loop_s",
    "graceful_shutdown_timeout_s",
    "health_check_period_s",
    "health_check_timeout_s",
    "num_cpus",
    "num_gpus",
}
ACTOR_OPTIONS = (
    "runtime_env",
    "num_cpus",
    "num_gpus",
    "memory",
    "object_store_memory",
    "resources",
    "accelerator_type",
)
LOG_LEVELS = {10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer to a PUT that changed nothing."""

    status: int
    text: str


@dataclass(frozen=True, slots=True)
class Config:
    """What a PUT asks for: the applications by name, as GET will show them, and the top-level keys that were given."""

    applications: dict[str, dict]
    top: dict = field(default_factory=dict)


def understand(body: bytes, version: RayVersion) -> Config | Refusal:
    """Read a body as Ray does: unknown keys are dropped, and whatever is not JSON is Ray's own fault (500)."""
    try:
        given = json.loads(body.decode())
    except (ValueError, RecursionError) as error:  # an empty body, a byte order mark, broken UTF-8, depth
        return Refusal(500, f"Traceback (most recent call last):\n  ...\n{type(error).__name__}: {error}")
    wrong = complaint(given)
    if wrong is not None:
        return Refusal(400, in_pydantic_words(wrong, given, version))
    injected = given.get("logging_config")
    applications = [application(one, version, injected) for one in given["applications"]]
    return Config({one["name"]: one for one in applications}, {key: given[key] for key in TOP_LEVEL if key in given})


@dataclass(frozen=True, slots=True)
class Complaint:
    where: tuple
    what: str


def complaint(given) -> Complaint | None:
    """The first thing that Ray would refuse, in its words; None if it would accept."""
    if not isinstance(given, dict):
        return Complaint((), "Input should be a valid dictionary or instance of ServeDeploySchema")
    if "applications" not in given:
        return Complaint(("applications",), "Field required")
    if not isinstance(given["applications"], list):
        return Complaint(("applications",), "Input should be a valid list")
    return complaint_of_options(given) or complaint_of_apps(given["applications"])


def complaint_of_options(given: dict) -> Complaint | None:
    for key in ("http_options", "grpc_options"):
        if key in given and not isinstance(given[key], dict):
            return Complaint((key,), "Input should be a valid dictionary")
    capacity = given.get("target_capacity")
    if isinstance(capacity, float | int) and not 0 <= capacity <= 100:  # NaN is not either
        return Complaint(("target_capacity",), "Input should be less than or equal to 100")
    return None


def complaint_of_apps(apps: list) -> Complaint | None:
    for index, app in enumerate(apps):
        if what := complaint_of_app(app):
            return Complaint(("applications", index), what)
    return duplicates(apps)


def complaint_of_app(app) -> str | None:
    if not isinstance(app, dict):
        return "Input should be a valid dictionary or instance of ServeApplicationSchema"
    if wrong := complaint_of_import_path(app):
        return wrong
    if "host" in app:
        return f'Host "{app["host"]}" is set in the config for application `{app.get("name")}`. Please remove it.'
    wanted = ("name", str), ("route_prefix", str | None), ("args", dict), ("runtime_env", dict), ("deployments", list)
    for key, kind in wanted:
        if key in app and not isinstance(app[key], kind):
            return f"{key}: Input should be a valid {kind}"
    return next((what for one in app.get("deployments", []) if (what := complaint_of_deployment(one))), None)


def complaint_of_import_path(app: dict) -> str | None:
    path = app.get("import_path")
    if not isinstance(path, str):
        return "import_path: Input should be a valid string" if "import_path" in app else "import_path: Field required"
    if path.count(":") > 1 or not (":" in path or "." in path):
        return f'Got invalid import path "{path}". An import path must contain at least on dot or colon'
    return None


def complaint_of_deployment(deployment) -> str | None:
    if not isinstance(deployment, dict) or not isinstance(deployment.get("name"), str):
        return "deployments.name: Field required"
    count = deployment.get("num_replicas", 1)
    if count is not None and count != "auto" and not isinstance(count, int):
        return f'`num_replicas` must be an int or "auto", but got: {count}'
    return None


def duplicates(apps: list[dict]) -> Complaint | None:
    names = [app.get("name", "default") for app in apps]
    if "" in names:
        return Complaint(("applications",), "Application names must be nonempty.")
    routes = [app["route_prefix"] for app in apps if app.get("route_prefix")]
    for name, count in Counter(names).items():
        if count > 1:
            text = f'Found multiple configs for application "{name}". Please remove all duplicates.'
            return Complaint(("applications",), text)
    for route, count in Counter(routes).items():
        if count > 1:
            unique = "Please ensure each application's route_prefix is unique."
            return Complaint(("applications",), f'Found duplicate applications for route prefix "{route}". {unique}')
    return None


def in_pydantic_words(wrong: Complaint, given: object, version: RayVersion) -> str:
    """A validation error as `repr` prints it; pydantic 1 and 2 differ in everything but the sentence itself.

    Pydantic 2 repeats what it was given, 25 characters of either end: a secret may be among them.
    """
    if version.has("validation errors are pydantic 2's"):
        where = ".".join(map(str, wrong.where))
        for step in wrong.where:
            given = given[step] if isinstance(given, list) or step in given else given
        text = repr(given)
        echo = text if len(text) <= 50 else f"{text[:25]}...{text[-24:]}"
        kind = type(given).__name__
        said = f"{wrong.what} [type=value_error, input_value={echo}, input_type={kind}]"
        return f"1 validation error for ServeDeploySchema\n{where}\n  {said}"
    error = {"loc": wrong.where or ("__root__",), "msg": wrong.what, "type": "value_error"}
    return f"ValidationError(model='ServeDeploySchema', errors=[{error}])"


def application(given: dict, version: RayVersion, injected: dict | None = None) -> dict:
    """An application's config as GET shows it again: in the schema's order, unknown keys gone, some ints floats."""
    config = version.pick(CONFIG, {"name": "default", **given})
    if injected and not config.get("logging_config"):
        config["logging_config"] = injected
    if config.get("logging_config"):
        config["logging_config"] = logging(config["logging_config"])
    if "deployments" in config:
        config["deployments"] = [deployment(one, version) for one in config["deployments"]]
    return version.pick(CONFIG, config)


def deployment(given: dict, version: RayVersion) -> dict:
    config = version.pick(DEPLOYMENT_CONFIG, {key: as_float(key, value) for key, value in given.items()})
    if isinstance(options := config.get("ray_actor_options"), dict):
        config["ray_actor_options"] = {key: as_float(key, options[key]) for key in ACTOR_OPTIONS if key in options}
    if config.get("logging_config"):
        config["logging_config"] = logging(config["logging_config"])
    return config


def as_float(key: str, value):
    return float(value) if key in FLOATS and isinstance(value, int) else value


def logging(given: dict) -> dict:
    keys = ("encoding", "log_level", "logs_dir", "enable_access_log")
    return {
        key: LOG_LEVELS.get(given[key], given[key]) if key == "log_level" else given[key]
        for key in keys
        if key in given
    }


def code_of(config: dict, version: RayVersion) -> str:
    """What Ray hashes to know whether an application must be built again. 1.0 and 1 differ in it."""
    code = [config.get("import_path"), config.get("runtime_env", {}), config.get("args", {})]
    deployments = config.get("deployments", [])
    if version.has("autoscaling policies are code"):
        code += [
            config.get("autoscaling_policy"),
            [(one.get("autoscaling_config") or {}).get("policy") for one in deployments],
        ]
    if version.has("request routers are code"):
        code.append([one.get("request_router_config") for one in deployments])
    if version.has("deployment actors are code"):
        code.append([one.get("deployment_actors") for one in deployments])
    return json.dumps(code, sort_keys=True)


def replicas_wanted(config: dict | None, name: str, capacity: float | None) -> int:
    """How many replicas a deployment gets: its number, or the least of an autoscaled one, cut down by the capacity."""
    mine = next((one for one in (config or {}).get("deployments", []) if one["name"] == name), {})
    count = mine.get("num_replicas", 1)
    if not isinstance(count, int):
        count = (mine.get("autoscaling_config") or {}).get("min_replicas", 1)
    return count if capacity is None else math.ceil(count * capacity / 100)
