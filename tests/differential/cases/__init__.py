"""Every case: what is sent, and what must come of it. A case is one entry in one of these tables."""

from tests.differential.cases import answers, bodies, connections, endings, ray_like, refusals, requests, upgrades

TABLES = {
    "requests": requests.CASES,
    "bodies": bodies.CASES,
    "answers": answers.CASES,
    "endings": endings.CASES,
    "upgrades": upgrades.CASES,
    "connections": connections.CASES,
    "refusals": refusals.CASES,
    "aiohttp": ray_like.CASES,
}
CASES = {f"{table}: {case.name}": case for table, cases in TABLES.items() for case in cases}
