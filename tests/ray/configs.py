"""The configs of the scenarios."""


def app(name: str, builder: str = "echo", **more: object) -> dict:
    """One application's config; its route is its name."""
    return {"name": name, "route_prefix": f"/{name}", "import_path": f"served:{builder}", **more}


def tuned(name: str, timeout_s: float) -> dict:
    """The same application with a setting that restarts nothing: its config differs, its replicas need not."""
    return app(name, deployments=[{"name": "Echo", "graceful_shutdown_timeout_s": timeout_s}])
