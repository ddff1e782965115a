"""mitmproxy with an add-on: `mitmdump --mode reverse:http://RAY -s mitmproxy_addon.py`. Runs in mitmproxy's own Python.

What one would write: Python's json for both bodies, the standard library for the GET that a PUT needs, everything that
is not the Serve path streamed. Numbers and lists survive; nothing is remembered over a restart, and two PUTs at the
same time overwrite one another.
"""

import asyncio
import json
import urllib.request

SERVE = "/api/serve/applications/"


class ServeApplications:
    """KubeRay sees what it declared; its PUT carries along what it did not declare."""

    def __init__(self):
        self.declared = set()
        self.declared_before = set()

    def requestheaders(self, flow):
        """Only the Serve path is held in memory."""
        flow.request.stream = not flow.request.path.startswith(SERVE)

    def responseheaders(self, flow):
        """The same for answers."""
        flow.response.stream = not flow.request.path.startswith(SERVE)

    async def request(self, flow):
        """Add to a PUT what runs and is not KubeRay's."""
        if flow.request.method != "PUT" or not flow.request.path.startswith(SERVE):
            return
        config = json.loads(flow.request.content)
        names = {application["name"] for application in config["applications"]}
        owned = names | self.declared_before
        url = f"http://{flow.server_conn.address[0]}:{flow.server_conn.address[1]}{SERVE}"
        state = await asyncio.to_thread(what_runs, url)
        config["applications"] += [
            application["deployed_app_config"]
            for name, application in state["applications"].items()
            if name not in owned and application["deployed_app_config"]
        ]
        flow.request.content = json.dumps(config).encode()
        self.declared = names
        self.declared_before |= names

    def response(self, flow):
        """Take out of a GET what is not KubeRay's."""
        if flow.request.method != "GET" or not flow.request.path.startswith(SERVE):
            return
        state = json.loads(flow.response.content)
        state["applications"] = {
            name: application for name, application in state["applications"].items() if name in self.declared
        }
        flow.response.content = json.dumps(state).encode()


def what_runs(url):
    """What Ray's GET says."""
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - the URL is the one mitmproxy was started with
        return json.load(answer)


addons = [ServeApplications()]
