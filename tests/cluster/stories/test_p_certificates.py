"""p. The certificates' Secret is deleted, its certificate ends, the replicas are exchanged. Holdfast is asked on."""

import asyncio

import pytest

from tests.cluster import certificates, installation
from tests.cluster.admissions import Admissions
from tests.cluster.manifests import application

OURS = {"holdfast.dev/dynamic-apps": "by-cr*"}


@pytest.mark.with_holdfast
async def test_certificates_that_go_are_made_anew_while_all_goes_on(api, service, record):
    head = await service.start(application("static"), annotations=OURS)
    await service.add_by_patch(application("by-cr"))
    await head.runs("static", "by-cr")
    admissions = Admissions(api, service, "by-cr")
    seen, made_anew = {}, {}

    async def during(what, change):
        over = asyncio.Event()
        counting = asyncio.create_task(admissions.counted(over))
        made_anew[what] = await change
        await asyncio.sleep(5)  # a certificate that nobody trusts shows with the next connection
        over.set()
        seen[what] = dict(await counting)

    await during("Secret deleted", certificates.delete(api))
    await during("both replicas exchanged", installation.restart())
    await during("certificate over", certificates.end(api))
    await during("both replicas exchanged again", installation.restart())
    status, said = await installation.check()

    record.note(**{what.lower().replace(" ", "_"): counts for what, counts in seen.items()})
    record.note(seconds_to_another={what: seconds for what, seconds in made_anew.items() if seconds is not None})
    answers = {answer for counts in seen.values() for answer in counts}
    record.judge(({"put back"}, 0), (answers, status))
    assert ({"put back"}, 0) == (answers, status), f"{seen}\n{said}"
