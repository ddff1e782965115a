"""AdmissionReview v1 in, AdmissionReview v1 out. Pure; knows no HTTP.

A decision says what becomes of an object: it is admitted as it is, admitted changed, or denied; with warnings, which
``kubectl`` prints. The patch is the difference, as JSON Patch; where there is none, none is sent.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import msgspec

from webhook.difference import difference
from webhook.heads import Manifest
from webhook.notices import Notice
from webhook.writers import Writer

API_VERSION = "admission.k8s.io/v1"

MAX_WARNING_CHARACTERS = 256
"""The API server may cut a longer one, and drops what goes beyond 4096 in all (Kubernetes, ``AdmissionResponse``)."""


class NotAReviewError(ValueError):
    """What was posted is no AdmissionReview v1: there is no uid to answer to."""


class _Kind(msgspec.Struct):
    kind: str


class _User(msgspec.Struct, frozen=True):
    username: str = ""


class _Request(msgspec.Struct, rename="camel"):
    uid: str
    kind: _Kind
    operation: str
    namespace: str = ""
    name: str = ""
    object: dict[str, Any] | None = None
    old_object: dict[str, Any] | None = None
    user_info: _User = _User()
    options: dict[str, Any] | None = None
    dry_run: bool = False


class _Review(msgspec.Struct, rename="camel"):
    api_version: str
    request: _Request


_review = msgspec.json.Decoder(_Review)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be admitted. ``old`` is what is stored, None at a CREATE."""

    uid: str
    kind: str
    operation: str
    namespace: str
    name: str
    object: Manifest
    old: Manifest | None
    writer: Writer
    is_dry_run: bool

    @classmethod
    def parse(cls, body: bytes) -> Request:
        """Read the body of the API server's POST.

        Raises:
            NotAReviewError: it is no AdmissionReview v1, or carries no object (as a DELETE does).
        """
        try:
            read = _review.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise NotAReviewError(f"not an AdmissionReview: {error}") from None
        if read.api_version != API_VERSION:
            raise NotAReviewError(f"an AdmissionReview of {read.api_version!r}, but {API_VERSION} is spoken here")
        return cls._of(read.request)

    @classmethod
    def _of(cls, read: _Request) -> Request:
        if read.object is None:
            raise NotAReviewError(f"a {read.operation} of a {read.kind.kind} without the object")
        about = read.object.get("metadata") or {}
        name = read.name or about.get("name") or about.get("generateName") or ""
        manager = (read.options or {}).get("fieldManager") or ""
        writer = Writer(read.user_info.username, manager)
        return cls(
            uid=read.uid,
            kind=read.kind.kind,
            operation=read.operation,
            namespace=read.namespace,
            name=name,
            object=read.object,
            old=read.old_object,
            writer=writer,
            is_dry_run=read.dry_run,
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of an object. ``outcome`` is a metric label; ``denial`` says why and what to do, None admits."""

    outcome: str
    changed: Manifest | None = None
    warnings: tuple[str, ...] = ()
    denial: str | None = None
    notices: tuple[Notice, ...] = ()


def patch(request: Request, decision: Decision) -> list[dict[str, Any]]:
    """The difference that a decision makes, as JSON Patch."""
    if decision.changed is None or decision.denial is not None:
        return []
    return list(difference(request.object, decision.changed))


def respond(request: Request, decision: Decision) -> dict[str, Any]:
    """The AdmissionReview that answers a request."""
    response: dict[str, Any] = {"uid": request.uid, "allowed": decision.denial is None}
    if decision.warnings:
        response["warnings"] = [_short(f"holdfast: {warning}") for warning in decision.warnings]
    if decision.denial is not None:
        response["status"] = {"code": 409, "reason": "Conflict", "message": f"holdfast: {decision.denial}"}
    elif operations := patch(request, decision):
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(msgspec.json.encode(operations)).decode()}
    return {"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response}


def _short(warning: str) -> str:
    return warning if len(warning) <= MAX_WARNING_CHARACTERS else warning[: MAX_WARNING_CHARACTERS - 1] + "…"
