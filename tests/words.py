"""Short ways for tests to say what is sent and what Ray shows."""

import json

from serveconfig.declared import Declared
from serveconfig.document import ServeConfig
from serveconfig.likeness import receipts
from serveconfig.plans import Situation
from serveconfig.rayversion import RayVersion
from serveconfig.running import Running


def app(name, route="", **members):
    """One application of a config."""
    return {"name": name, "route_prefix": route or f"/{name}", "import_path": f"pkg.{name}:app", **members}


def body(*applications, **options):
    """The body of a PUT, as KubeRay prints it: compact, keys sorted."""
    return json.dumps({"applications": applications, **options}, separators=(",", ":"), sort_keys=True).encode()


def config(*applications, **options):
    return ServeConfig.parse(body(*applications, **options))


def shown(stored=None, *, name=None, status="RUNNING", source="declarative", **members):
    """An entry of Ray's GET, (name, details).

    Without ``stored`` Ray shows no config; with ``source=None`` it is a Ray before 2.39.
    """
    name = name or stored["name"]
    entry = {"name": name, "route_prefix": f"/{name}", "status": status, "deployed_app_config": stored, **members}
    return name, entry if source is None else {**entry, "source": source}


def imperative(name, **members):
    """An entry of Ray's GET for an application of serve.run."""
    return shown(name=name, source="imperative", **members)


def listing(*entries, controller=True, **top):
    """The body of Ray's GET."""
    info = {"actor_id": "c0ffee"} if controller else {}
    return json.dumps({"controller_info": info, "applications": dict(entries), **top}).encode()


def running(*entries, **top):
    return Running.parse(listing(*entries, **top))


def situation(runs, declared=None, *, ray="2.60.0", allow_loss=False, dropped=()):
    """``declared``: the config that KubeRay had accepted, None if that is not known."""
    known = Declared()
    if declared is not None:
        stored = running(*(shown(json.loads(application.raw)) for application in declared.applications))
        known = known.accepting(declared, keep_receipts=False).noting(receipts(declared, stored))
    return Situation(runs, known, RayVersion(ray), allow_loss, dict(dropped))


def sent(plan):
    """What a plan PUTs: names to configs, in order, and the options."""
    config = json.loads(plan.body)
    return {app.get("name", "default"): app for app in config.pop("applications")}, config
