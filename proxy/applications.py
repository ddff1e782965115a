"""The intercepted calls of Ray's Serve API: PUT is merged with what must be kept, DELETE is refused.

(KubeRay's GET is in ``view``. Everybody else's GET, and KubeRay's DELETE, pass as they came.)
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from proxy.bodies import read_config
from proxy.deploying import Deployments, Order
from proxy.http.local import Answer, Request
from proxy.journal.syncing import Syncing
from proxy.problems import problem
from proxy.ray import Ray
from serveconfig import plans
from serveconfig.callers import Caller
from serveconfig.document import ServeConfig
from serveconfig.plans import Plan, Situation


@dataclass(frozen=True, slots=True)
class ServeApplications:
    """Answers the PUTs and DELETEs of ``/api/serve/applications/``."""

    deployments: Deployments
    syncing: Syncing

    async def declare(self, ray: Ray, request: Request) -> Answer:
        """KubeRay's PUT: Ray's own answer, or 200 where nothing had to be sent."""
        return await self._put(ray, request, Caller.KUBERAY)

    async def upsert(self, ray: Ray, request: Request) -> Answer:
        """Anyone else's PUT: likewise."""
        return await self._put(ray, request, Caller.OTHER)

    async def shutdown(self, _ray: Ray, _request: Request) -> Answer:
        """Anyone else's DELETE: refused, with the ways to say what was meant."""
        return problem(
            HTTPStatus.CONFLICT,
            "Would shut Serve down",
            "DELETE /api/serve/applications/ is serve.shutdown(): it deletes every application of the cluster, those "
            "of the RayService and of serve.run included. To delete one application: DELETE "
            "/-/applications/{name}. To delete all of them: add ?force=true.",
        )

    async def _put(self, ray: Ray, request: Request, by: Caller) -> Answer:
        body = await read_config(request, self.deployments.settings.max_config_bytes)
        asked = ServeConfig.parse(body)
        headers = request.head.headers
        key = (ray, by, hashlib.sha256(body).digest(), ray.as_caller(headers))

        def plan(now: Situation) -> Plan:
            return plans.declare(asked, now) if by is Caller.KUBERAY else plans.upsert(asked, now)

        done = await self.deployments.carry_out(Order(plan, by, key, headers, ray))
        answer = done.answer or Answer(HTTPStatus.OK, ((b"X-Holdfast", b"unchanged"),))
        if by is not Caller.OTHER or not done.accepted:
            return answer
        return await self.syncing.marked(answer, asked.names, are_put=True)
