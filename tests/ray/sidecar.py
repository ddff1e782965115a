"""`holdfast proxy` as a process of its own, as it runs in a pod."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
START_TIMEOUT_S = 20


@dataclass(slots=True)
class Sidecar:
    """A running proxy. Its state outlives `restart`, its log everything."""

    upstream: str
    work_dir: Path
    settings: dict[str, str] = field(default_factory=dict)
    port: int = 0
    process: subprocess.Popen = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.work_dir / "proxy.log"

    def start(self) -> None:
        """Start, on the port of the last time if there was one, and wait for the log to say so."""
        before = len(self.logged())
        options = ("--listen", f"127.0.0.1:{self.port}", "--listen-agent", "", "--upstream", self.upstream)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        environ |= {f"HOLDFAST_{name.upper()}": value for name, value in self.settings.items()}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "cli.main", "proxy", *options, "--state-dir", self.work_dir / "state"],
                cwd=ROOT,
                env=environ,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (ports := [line["port"] for line in self.logged()[before:] if line["msg"] == "listening"]):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
        self.port = ports[0]

    def logged(self) -> list[dict]:
        """The log's lines; one that is just being written is left out."""
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def kill(self) -> None:
        """As the kernel kills a process that takes too much memory."""
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()

    def move(self) -> None:
        """Another pod takes its place: nothing of its folder is left."""
        self.kill()
        for file in sorted((self.work_dir / "state").glob("**/*"), reverse=True):
            file.unlink()
        self.start()
