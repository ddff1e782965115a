"""What the demo's story needs of Ray Serve's REST API, in memory and at once: what is PUT runs, what is not named goes.

`run` stands for `serve.run`. Requests are kept as they came. No model of Ray: that is tests/fakes/dashboard.py.
"""

import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVE = "/api/serve/applications/"


class ServeDouble:
    """Listens on a free port of 127.0.0.1 until `close`."""

    def __init__(self):
        self.applications = {}
        self.requests = []
        self.answers = {}
        self._actors = itertools.count(100)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def run(self, name, args=None):
        self.applications[name] = self._application("imperative", None, args or {})

    def deploy(self, configs):
        """What a PUT of the whole list does."""
        before = self.applications
        kept = {name: there for name, there in before.items() if there["source"] == "imperative"}
        for config in configs:
            there = before.get(config["name"])
            same = there is not None and there["deployed_app_config"] == config
            kept[config["name"]] = there if same else self._application("declarative", config, config.get("args", {}))
        self.applications = kept

    def deploy_one(self, config):
        """What Holdfast's PUT of one application comes to."""
        self.applications[config["name"]] = self._application("declarative", config, config["args"])

    def _application(self, source, config, args):
        actor = next(self._actors)
        replica = {"actor_id": f"actor-{actor}", "pid": actor, "state": "RUNNING"}
        broken = bool(args.get("weights"))
        return {
            "status": "DEPLOY_FAILED" if broken else "RUNNING",
            "source": source,
            "deployed_app_config": config,
            "deployments": {} if broken else {"Greeter": {"replicas": [replica]}},
        }

    def answer(self, method, target, body):
        """Status and body of the answer."""
        if (method, target) in self.answers:
            return self.answers[method, target]
        if method == "PUT" and target.startswith("/-/applications/"):
            self.deploy_one(json.loads(body))
        elif method == "PUT":
            self.deploy(json.loads(body)["applications"])
        elif method == "DELETE":
            self.applications = {}
        else:
            declarative = "api_type=declarative" in target
            shown = {k: v for k, v in self.applications.items() if not declarative or v["source"] == "declarative"}
            return 200, json.dumps({"controller_info": {"actor_id": "c"}, "applications": shown}).encode()
        return 200, b""

    def _handler(double):  # noqa: N805 - `self` is the handler's, below
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                double.requests.append((self.requestline, tuple(self.headers.items()), body))
                status, answer = double.answer(self.command, self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_PUT = do_DELETE = do_GET  # noqa: N815 - as above

            def log_message(self, *args):
                """The tests' output is theirs."""

        return Handler
