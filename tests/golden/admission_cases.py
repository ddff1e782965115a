"""One case of admission is one folder of ``tests/golden/admission``; its name is the sentence that it shows.

``review.json`` (or ``.yaml``)  the AdmissionReview as the API server posts it
``context.json``                who owns the RayCluster, and the API server's version, where they are not the usual ones
``expected.json``               outcome, JSON Patch, warnings, denial, and for a RayService the text that comes of it

A new case is a new folder and no code. ``python -m tests.golden.admission_cases`` writes the ``expected.json`` of every
folder that has none, to be read before it is committed; with ``--anew`` it writes all of them.
"""

import base64
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonpatch
import msgspec
import yaml

from webhook.admission import Admission, raycluster_to_look_up
from webhook.heads import RayServiceOwner
from webhook.injection import SidecarForm
from webhook.review import Decision, Request, respond

FOLDER = Path(__file__).parent / "admission"
IMAGE = "holdfast:0.1.0"
JOURNAL = "https://holdfast-webhook.holdfast.svc:443"
_OWNER = {"name": "shop", "annotations": {}}
_API_SERVER = [1, 34]


@dataclass(frozen=True, slots=True)
class Case:
    """One folder, read."""

    name: str
    review: dict[str, Any]
    context: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Case":
        """``review`` may be JSON or YAML: a text in it is easier to read as YAML."""
        (path,) = folder.glob("review.*")
        context = folder / "context.json"
        review = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        return cls(folder.name, review, json.loads(context.read_text()) if context.exists() else {})

    @property
    def request(self) -> Request:
        return Request.parse(msgspec.json.encode(self.review))

    def decide(self, request: Request) -> Decision:
        """What the webhook decides in this case's surroundings."""
        owner = self.context.get("owner", _OWNER)
        major, minor = self.context.get("apiServer", _API_SERVER)
        admission = Admission(SidecarForm(image=IMAGE, journal_url=JOURNAL), (major, minor))
        asked = raycluster_to_look_up(request) is not None and owner
        return admission.decide(request, RayServiceOwner(**owner, namespace=request.namespace) if asked else None)

    def admitted(self) -> dict[str, Any]:
        """What the API server goes on with: our patch, applied by somebody else's library."""
        response = respond(self.request, self.decide(self.request))["response"]
        operations = json.loads(base64.b64decode(response.get("patch", "W10=")))
        result: dict[str, Any] = jsonpatch.apply_patch(self.review["request"]["object"], operations)
        return result

    def outcome(self) -> dict[str, Any]:
        """What ``expected.json`` holds."""
        decision = self.decide(self.request)
        response = respond(self.request, decision)["response"]
        text = self.admitted().get("spec", {}).get("serveConfigV2")
        return {
            "outcome": str(decision.outcome),
            "allowed": response["allowed"],
            "patch": json.loads(base64.b64decode(response.get("patch", "W10="))),
            "warnings": response.get("warnings", []),
            "denial": response.get("status", {}).get("message"),
            "events": [[notice.reason, notice.message] for notice in decision.notices],
            **(
                {"text": text.splitlines(keepends=True)}
                if self.review["request"]["kind"]["kind"] == "RayService"
                else {}
            ),
        }


def all_cases() -> list[Case]:
    """Every folder."""
    return [Case.read(folder) for folder in sorted(FOLDER.iterdir()) if folder.is_dir()]


def write(*, anew: bool) -> None:
    """Write what is missing, or everything anew."""
    for case in all_cases():
        expected = FOLDER / case.name / "expected.json"
        if anew or not expected.exists():
            expected.write_text(json.dumps(case.outcome(), indent=1, ensure_ascii=False) + "\n")
            print(case.name)


if __name__ == "__main__":
    write(anew="--anew" in sys.argv)
