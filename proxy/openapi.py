"""The OpenAPI document of Holdfast's own routes: what ``/-/openapi.json`` serves, and what the tests hold us to."""

from __future__ import annotations

from http import HTTPStatus

from proxy.http.local import Answer, Request
from proxy.oneapp import MAX_WAIT_S
from proxy.problems import json_answer
from proxy.ray import Ray

Json = dict[str, object]


def _problem(description: str) -> Json:
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _text(description: str) -> Json:
    return {"description": description, "content": {"text/plain": {}}}


def _json(description: str, schema: str, headers: Json | None = None) -> Json:
    return {
        "description": description,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
        **({"headers": headers} if headers else {}),
    }


_RAYS_OWN = _text("Ray refuses the caller's credentials; its own answer.")
_READING: Json = {"401": _RAYS_OWN, "403": _RAYS_OWN, "503": _problem("What runs is not known. Try again.")}
_CHANGING: Json = {
    **_READING,
    "400": _problem("The name, a parameter or the config is wrong; or Ray refused the config, in its words."),
    "405": _problem("The request has the marks of a browser."),
    "409": _problem(
        "KubeRay declares the application, its route prefix is taken, or (before Ray 2.11) others would be lost."
    ),
    "412": _problem("If-Match or If-None-Match does not hold: somebody else was faster."),
}
_ETAG: Json = {"ETag": {"description": "A digest of the stored config.", "schema": {"type": "string"}}}
_NAME: Json = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The application: ASCII without '/'.",
    "schema": {"type": "string", "pattern": "^[ -.0-~]{1,200}$"},
}
_WAIT: Json = {
    "name": "wait",
    "in": "query",
    "description": "Seconds to wait until the application runs or has failed (after DELETE: is gone).",
    "schema": {"type": "number", "minimum": 0, "maximum": MAX_WAIT_S},
}
_DRY_RUN: Json = {
    "name": "dry_run",
    "in": "query",
    "description": "true: change nothing; tell what would be done, or refuse as the change would be refused.",
    "schema": {"type": "boolean"},
}
_CONDITIONS: list[Json] = [
    {"name": name, "in": "header", "description": text, "schema": {"type": "string"}}
    for name, text in (
        ("If-Match", "Go ahead only if the config's ETag is (one of) these; * if the application exists at all."),
        ("If-None-Match", "Go ahead only if it is none of these; * if the application does not exist."),
    )
]
_APPLICATION: Json = {
    "name": {"type": "string"},
    "owner": {"enum": ["kuberay", "dynamic", "unknown"], "description": "Who declares it."},
    "origin": {"enum": ["declarative", "imperative", "unknown"], "description": "By a PUT, or by serve.run."},
    "state": {"type": "string", "description": "Ray's status: RUNNING, DEPLOYING, DEPLOY_FAILED, UNHEALTHY, DELETING."},
    "message": {"type": "string", "description": "Why it is not running, in Ray's words."},
    "route_prefix": {"type": ["string", "null"]},
    "deployed_at": {"type": ["string", "null"], "description": "When somebody last deployed it (RFC 3339)."},
    "etag": {"type": ["string", "null"]},
}
_TOLD: Json = {
    **{name: schema for name, schema in _APPLICATION.items() if name != "etag"},
    "state": {"type": ["string", "null"], "description": "As above; null: it does not run here."},
    "message": {"type": "string", "description": "As above, its beginning and its end."},
    "journal": {
        "enum": ["written", "queued", "none", None],
        "description": "Whether the journal has it; null: KubeRay declares it, so the journal need not.",
    },
    "carried_over": {
        "type": ["object", "null"],
        "required": ["from", "at"],
        "properties": {"from": {"type": "string"}, "at": {"type": "string", "format": "date-time"}},
    },
    "not_carried": {"type": ["string", "null"], "description": "Why it could not be carried over."},
    "arriving": {"type": "boolean", "description": "It is to be carried over, or was and has not settled."},
}
_PROBLEM: Json = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, and what to do."},
    },
}
_SCHEMAS: Json = {
    "Problem": _PROBLEM,
    "Application": {
        "type": "object",
        "required": [*_APPLICATION],
        "properties": {**_APPLICATION, "config": {"type": ["object", "null"], "description": "As Ray stores it."}},
    },
    "Applications": {
        "type": "object",
        "required": ["applications"],
        "properties": {"applications": {"type": "array", "items": {"$ref": "#/components/schemas/Application"}}},
    },
    "DryRun": {
        "type": "object",
        "required": ["name", "dry_run", "would"],
        "properties": {
            "name": {"type": "string"},
            "dry_run": {"const": True},
            "would": {"enum": ["create", "change", "delete", "nothing"]},
        },
    },
    "ApplicationOrDryRun": {
        "anyOf": [{"$ref": "#/components/schemas/Application"}, {"$ref": "#/components/schemas/DryRun"}]
    },
    "Config": {
        "type": "object",
        "description": "One application of Ray's ServeDeploySchema.",
        "required": ["import_path"],
        "properties": {
            "name": {"type": "string", "description": "May be left out; else it is the one in the path."},
            "import_path": {"type": "string"},
            "route_prefix": {"type": ["string", "null"]},
        },
        "additionalProperties": True,
    },
    "Status": {
        "type": "object",
        "required": [
            "version",
            "rayservice",
            "raycluster",
            "ray_version",
            "serve_running",
            "declared",
            "applications",
            "dynamic",
            "not_carried_over",
            "journal",
            "last_put",
        ],
        "properties": {
            "rayservice": {"type": ["string", "null"], "description": "Namespace and name, with a slash between."},
            "raycluster": {"type": ["string", "null"]},
            "applications": {
                "type": "array",
                "items": {"type": "object", "required": [*_TOLD], "properties": _TOLD},
            },
        },
    },
}
_BODY: Json = {
    "required": True,
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Config"}}},
}
_PUT: Json = {
    **_CHANGING,
    "200": _json("Replaced, or unchanged; or what a dry run found.", "ApplicationOrDryRun", _ETAG),
    "201": _json("Added.", "Application", _ETAG),
    "202": {"description": "Accepted; Ray does not show it yet.", "content": {"application/json": {}}},
    "413": _problem("The config is too large."),
    "415": _problem("The charset is not UTF-8, or the coding unknown."),
}
_DELETE: Json = {
    **_CHANGING,
    "200": _json("What a dry run found.", "DryRun"),
    "202": {"description": "On its way out."},
    "204": {"description": "Gone."},
    "404": _problem("There is none of that name."),
}
DOCUMENT: Json = {
    "openapi": "3.1.0",
    "info": {
        "title": "Holdfast",
        "version": "1",
        "description": "One Ray Serve application at a time, beside KubeRay.",
    },
    "paths": {
        "/-/": {"get": {"responses": {"200": {"description": "A page for people.", "content": {"text/html": {}}}}}},
        "/-/healthz": {
            "get": {"responses": {"200": {"description": "The process answers.", "content": {"text/plain": {}}}}}
        },
        "/-/metrics": {"get": {"responses": {"200": {"description": "Prometheus.", "content": {"text/plain": {}}}}}},
        "/-/status": {"get": {"responses": {"200": _json("What is known and was done.", "Status"), **_READING}}},
        "/-/applications/": {"get": {"responses": {"200": _json("All that Ray shows.", "Applications"), **_READING}}},
        "/-/applications/{name}": {
            "parameters": [_NAME, _WAIT],
            "get": {
                "responses": {
                    "200": _json("The application.", "Application", _ETAG),
                    "400": _problem("The name or a parameter is wrong."),
                    "404": _problem("There is none of that name."),
                    **_READING,
                }
            },
            "put": {"parameters": [*_CONDITIONS, _DRY_RUN], "requestBody": _BODY, "responses": _PUT},
            "delete": {"parameters": [*_CONDITIONS, _DRY_RUN], "responses": _DELETE},
        },
    },
    "components": {"schemas": _SCHEMAS},
}


async def openapi(_ray: Ray, _request: Request) -> Answer:
    """The document."""
    return json_answer(DOCUMENT, HTTPStatus.OK)
