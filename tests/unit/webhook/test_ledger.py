"""Events do not fill etcd."""

from webhook.ledger import BURST, ONE_EVERY_S, SAME_WITHIN_S, Entry, Ledger

ABOUT, TEXT = ("web", "shop"), ("Reason", "text")


def test_the_same_again_is_counted():
    ledger = Ledger()

    first = ledger.enter(ABOUT, TEXT, "a", 0)
    second = ledger.enter(ABOUT, TEXT, "b", SAME_WITHIN_S)
    late = ledger.enter(ABOUT, TEXT, "c", 3 * SAME_WITHIN_S)

    assert [(e.name, e.count, e.first_s) for e in (first, second, late) if e] == [
        ("a", 1, 0),
        ("a", 2, 0),
        ("c", 1, 1800),
    ]


def test_one_rayservice_cannot_write_without_end():
    ledger = Ledger()

    burst = [ledger.enter(ABOUT, ("Reason", str(n)), "e", 0) for n in range(BURST + 5)]

    assert [entry is not None for entry in burst] == [True] * BURST + [False] * 5
    assert ledger.enter(("web", "other"), TEXT, "e", 0)
    assert ledger.enter(ABOUT, TEXT, "e", ONE_EVERY_S)
    assert not ledger.enter(ABOUT, TEXT, "e", ONE_EVERY_S)


def test_what_is_remembered_has_an_end():
    ledger = Ledger()

    for n in range(5000):
        ledger.enter(("web", str(n)), TEXT, "e", n)

    again = ledger.enter(("web", "0"), TEXT, "new", 5000)

    assert again == Entry("new", 5000, 1)
    assert len(ledger._entries) <= 4096
