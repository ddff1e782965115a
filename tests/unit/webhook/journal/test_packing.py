import json
import secrets

import msgspec
import pytest

from serveconfig.journal import Change, Changes
from webhook.journal import packing
from webhook.journal.document import Journal
from webhook.journal.packing import JournalFullError, Packed, UnreadableJournalError, pack, parts_of, unpack

SMALL = 2000


def journal(count, size=100):
    """Applications that do not compress."""
    configs = ({"name": f"app-{n}", "noise": secrets.token_hex(size // 2), "f": 1.0} for n in range(count))
    changes = tuple(Change(config["name"], msgspec.Raw(json.dumps(config).encode())) for config in configs)
    return Journal.new().taking(Changes(changes=changes), "shop-a")[0]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(packing, "PART_BYTES", SMALL)


def test_g5_a_small_journal_is_one_secret_and_comes_back_byte_for_byte():
    before = journal(3)

    packed = pack(before, "j", None)

    assert packed.parts == {}
    assert unpack(packed) == before
    assert b'"f": 1.0' in bytes(unpack(packed).entries["app-0"].config)


def test_g5_a_large_one_is_in_parts_none_of_which_is_too_large():
    before = journal(100)

    packed = pack(before, "j", None)

    assert set(packed.parts) == set(parts_of(packed.head))
    assert len(packed.parts) > 2
    assert max(map(len, packed.parts.values())) <= SMALL
    assert unpack(packed) == before


def test_g5_a_change_writes_one_part_anew_and_never_over_an_old_one():
    before = journal(100)
    first = pack(before, "j", None)
    change = Change("app-7", msgspec.Raw(b'{"name": "app-7"}'))
    after, _ = before.taking(Changes(changes=(change,)), "shop-a")

    second = pack(after, "j", first)

    assert len(second.parts.keys() - first.parts.keys()) == 1
    assert all(first.parts[name] == content for name, content in second.parts.items() if name in first.parts)
    assert unpack(second) == after


def test_g5_a_journal_that_does_not_fit_is_said_to_be_full(monkeypatch):
    monkeypatch.setattr(packing, "MOST_PARTS", 4)

    with pytest.raises(JournalFullError, match="more than 4 Secrets"):
        pack(journal(200), "j", None)


def test_g5_a_part_that_is_missing_or_not_what_was_written_is_no_journal():
    packed = pack(journal(100), "j", None)
    name = next(iter(packed.parts))

    for parts in ({}, {**packed.parts, name: b"something else"}):
        with pytest.raises(UnreadableJournalError, match="missing or not what was written"):
            unpack(Packed(packed.head, parts))


@pytest.mark.parametrize("content", [b"", b"nonsense", packing._compressed([1])])
def test_g12_what_is_no_journal_is_not_quoted(content):
    with pytest.raises(UnreadableJournalError, match=r"^its content cannot be read$"):
        parts_of(content)
