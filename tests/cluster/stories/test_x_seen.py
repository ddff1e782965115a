"""x. People look at it: the dashboard's every question has an answer, and the page shows every application."""

import pytest

from tests.cluster import installation
from tests.cluster.kubectl import proxied
from tests.cluster.manifests import NAME, application
from tests.monitoring.dashboard import questions
from tests.monitoring.prometheus import Pod, is_ready, running

pytestmark = [pytest.mark.with_holdfast, pytest.mark.seen, pytest.mark.own_node]


@pytest.fixture
async def lived(service):
    """A RayService of which something can be told: deployed, retired, kept, and carried over to a second head."""
    head = await service.start(application("static"), application("retires"))
    await head.upsert(application("by-rest"))
    await head.deploy_imperatively("by-serve-run")
    await service.apply(application("static"))
    await head.runs("static", "by-rest")
    await head.die("deleted")
    head = await service.next_head(head)
    await head.runs("static", "by-rest", patience_s=180)
    return head


async def test_every_question_of_the_dashboard_has_an_answer(service, lived, record, tmp_path):
    about = {"namespace": service.namespace, "pod": lived.pod}
    about["__meta_kubernetes_pod_label_ray_io_cluster"] = await service.active_cluster()
    pods = [Pod("holdfast-sidecars", 28265, about, (await lived.pod_object())["status"]["podIP"])]
    for name, address in (await installation.pods()).items():
        pods.append(Pod("holdfast-webhook", 9443, {"namespace": installation.NAMESPACE, "pod": name}, address))

    with running(tmp_path, *pods) as prometheus:
        await is_ready(prometheus)
        await prometheus.until("count_over_time(up[30s]) > 10 and up == 1", series=len(pods))
        asked = {each: await prometheus.ask(each.about(service.namespace, NAME)) for each in questions()}

    missing = {each.title: each.missing_in(series) for each, series in asked.items() if each.missing_in(series)}
    record.note(questions=len(asked), without_an_answer=missing)
    record.judge({}, missing)
    assert missing == {}


async def test_the_page_shows_every_application(service, lived, record):
    from tests.page.looking import Look, chromium  # noqa: PLC0415 - playwright is there where the page is tested

    path = f"api/v1/namespaces/{service.namespace}/pods/{lived.pod}:28265/proxy/-/"
    async with proxied() as url, chromium() as browser:
        look = await Look.at(browser, f"{url}/{path}")
        await look.until_live()
        rows = {name: row["State"] for name, row in (await look.rows()).items()}

    record.note(rows=rows, wrong=look.wrong)
    expected = {"static": "RUNNING", "by-rest": "RUNNING", "by-serve-run": "not carried over"}
    record.judge((expected, []), (rows, look.wrong))
    assert (expected, []) == (rows, look.wrong)
