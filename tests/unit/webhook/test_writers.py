"""Whose an application is."""

import pytest

from webhook.writers import Ownership, Writer

APP = "m-1"
CONTROLLER, GITOPS = Writer("sa:ml:controller", "python"), Writer("admin", "argocd-controller")


def ownership(listed: str = "", globs: str = "", record: str = "{}", sent: str | None = None) -> Ownership:
    words = {"holdfast.dev/dynamic-writers": listed, "holdfast.dev/dynamic-apps": globs}
    return Ownership.of(words | ({"holdfast.dev/added-by": sent} if sent else {}), {"holdfast.dev/added-by": record})


@pytest.mark.parametrize(
    ("who", "writer", "may"),
    [
        (ownership(), GITOPS, True),
        (ownership(globs="m-*"), GITOPS, False),
        (ownership(globs="other-*"), GITOPS, True),
        (ownership(globs="m-*", listed="sa:ml:*"), CONTROLLER, True),
        (ownership(listed="sa:ml:controller", record='{"m-1": "sa:ml:controller"}'), CONTROLLER, True),
        (ownership(listed="sa:ml:controller", record='{"m-1": "sa:ml:controller"}'), GITOPS, False),
        (ownership(listed="argocd-controller, sa:ml:controller", record='{"m-1": "sa:ml:controller"}'), GITOPS, False),
        (ownership(listed="argocd-controller", record='{"m-1": "sa:ml:controller"}'), GITOPS, True),
        (ownership(globs="m-*", record='{"m-1": "sa:ml:controller (python)"}'), CONTROLLER, True),
        (ownership(globs="*", listed="sa:ml:*", record='{"m-1": "sa:ml:controller (python)"}'), CONTROLLER, True),
        (
            ownership(globs="m-*", record='{"m-1": "sa:ml:controller"}', sent='{"m-1": "admin (argocd-controller)"}'),
            GITOPS,
            False,
        ),
        (ownership(record="[no json"), GITOPS, True),
        (ownership(record="[]"), GITOPS, True),
    ],
)
def test_who_may_drop_an_application(who, writer, may):
    assert may is who.may_drop(writer, APP)


def test_a_record_of_what_is_gone_goes_and_the_first_writer_stays():
    before = ownership(listed="*", record='{"m-1": "a", "m-2": "b"}')

    after = before.after(CONTROLLER, added=["m-2", "m-3"], present=["m-2", "m-3"])

    assert dict(after.added_by) == {"m-2": "b", "m-3": "*"}
    assert ownership().annotation() is None
