"""The API server as a client sees it that sends manifests and looks at what comes back: answers, refusals, warnings."""

import json
import ssl
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.apiserver.control_plane import TOKEN, running


@dataclass(frozen=True, slots=True)
class ApiServer:
    """A running API server. ``token`` is a cluster administrator's."""

    url: str
    token: str
    folder: Path
    kubeconfig: Path
    warnings: list[str] = field(default_factory=list)

    def call(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", user: str = ""
    ) -> Any:
        """One request, as a ``user`` if one is named; the answer's JSON, also where it is a refusal (a ``Status``).

        What the answer warned about is kept in ``warnings``.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, method=method)  # noqa: S310 - a loopback address
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", content_type)
        if user:
            request.add_header("Impersonate-User", user)
            request.add_header("Impersonate-Group", "system:masters")
        # The server has signed its certificate itself, a minute ago, for a loopback address.
        context = ssl._create_unverified_context()  # noqa: S323
        try:
            with urllib.request.urlopen(request, context=context, timeout=60) as answer:  # noqa: S310
                self.warnings[:] = answer.headers.get_all("Warning") or []
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read()
            return json.loads(said) if said.startswith(b"{") else {"code": error.code, "message": said.decode()}

    def apply(self, path: str, manifest: dict[str, Any], manager: str = "tests", user: str = "") -> Any:
        """Server-side apply of one object."""
        where = f"{path}/{manifest['metadata']['name']}?fieldManager={manager}&force=true"
        return self.call("PATCH", where, manifest, "application/apply-patch+yaml", user)

    def create_namespace(self, name: str, labels: dict[str, str] | None = None) -> None:
        """A namespace with the service account that a controller would have made."""
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels or {}}})
        self.call("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """An API server of its own, with nothing installed, in a temporary folder; it ends with the context."""
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-api-", ignore_cleanup_errors=True) as folder,
        running(Path(folder)) as control_plane,
    ):
        yield ApiServer(control_plane.url, TOKEN, Path(folder), control_plane.kubeconfig)
