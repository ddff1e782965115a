"""k. The webhook is away when a head is lost. The next head starts all the same, and is put right later."""

import pytest

from tests.cluster import installation, sidecar
from tests.cluster.manifests import application

REPAIRED_WITHIN_S = 10
RAY, SIDECAR = 8265, 28265


@pytest.mark.with_holdfast
async def test_a_head_without_sidecar_is_put_right(service, record):
    head = await service.start(application("static"))
    led_to = [await service.head_service_leads_to()]

    await installation.scale(0)
    try:
        await head.die("deleted")
        head = await service.next_head(head)
    finally:
        back_within = await installation.scale(2)
    repaired = await service.until_head_service_leads_to(RAY, patience_s=60)
    forms = [sidecar.form(await head.pod_object())]
    await head.runs("static", patience_s=120)

    await head.die("deleted")
    head = await service.next_head(head)
    led_back = await service.until_head_service_leads_to(SIDECAR, patience_s=60)
    forms.append(sidecar.form(await head.pod_object()))
    await head.runs("static", patience_s=120)

    record.note(forms_of_the_next_heads=forms, seconds_to_two_replicas=back_within)
    record.note(seconds_from_there_to_repair=repaired, seconds_from_the_next_head_to_redirect=led_back)
    seen = (led_to, forms[0], repaired <= REPAIRED_WITHIN_S, forms[1] != "none")
    expected = ([SIDECAR], "none", True, True)
    record.judge(expected, seen)
    assert expected == seen
