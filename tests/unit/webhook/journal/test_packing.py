import json
import secrets
import zlib

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from serveconfig.journal import Change, Changes, Entry
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

    assert set(packed.parts) == set(parts_of(packed.head, "j"))
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


def test_g5_a_part_that_grows_too_large_is_halved_and_the_others_stay():
    before = journal(100)
    first = pack(before, "j", None)
    near = (name for n in range(99) if zlib.crc32((name := f"more-{n}").encode()) & 3 == 0)
    grown = tuple(map(Change, near, (each.config for each in journal(12).entries.values())))
    after, _ = before.taking(Changes(changes=grown), "shop-a")

    second = pack(after, "j", first)

    assert unpack(second) == after
    assert len(first.parts) == 4
    assert len(first.parts.keys() & second.parts.keys()) == 3
    assert len(second.parts) == 5


def test_g5_two_parts_are_never_taken_for_one_by_their_checksums(monkeypatch):
    of_names = zlib.crc32
    monkeypatch.setattr(packing.zlib, "crc32", lambda content: of_names(content) if len(content) < 20 else 7)
    before = journal(60)
    first = pack(before, "j", None)
    change = Change("app-7", msgspec.Raw(b'{"name": "app-7"}'))
    after, _ = before.taking(Changes(changes=(change,)), "shop-a")

    assert unpack(pack(after, "j", first)) == after


def test_g5_a_journal_that_does_not_fit_is_said_to_be_full(monkeypatch):
    monkeypatch.setattr(packing, "MOST_PARTS", 4)

    with pytest.raises(JournalFullError, match="more than 4 Secrets"):
        pack(journal(200), "j", None)


def test_g5_an_application_that_fits_into_no_secret_is_named():
    with pytest.raises(JournalFullError, match="application 'app-0' has more than"):
        pack(journal(1, size=3 * SMALL), "j", None)


def test_g5_names_that_fit_into_no_secret_are_too_many():
    names = tuple(secrets.token_hex(8) for _ in range(500))
    journal, _ = Journal.new().taking(Changes(declared=names), "shop-a")

    with pytest.raises(JournalFullError, match="the names in it alone"):
        pack(journal, "j", None)


@pytest.mark.parametrize("parts", [(("other", 1),), tuple((f"j-{n}", n) for n in range(300))])
def test_g12_no_secret_is_looked_at_that_is_no_part_of_the_journal(parts):
    named = tuple(packing._Part(*each) for each in parts)

    with pytest.raises(UnreadableJournalError, match="no part of it"):
        parts_of(packing._compressed(packing._Head(Journal.new(), named)), "j")


def test_g11_a_few_kib_that_become_gigabytes_are_not_read(monkeypatch):
    monkeypatch.setattr(packing, "READABLE_BYTES", 100_000)
    bomb = packing._compressed(packing._Head(Journal("x" * 200_000)))
    assert len(bomb) < 1000

    with pytest.raises(UnreadableJournalError, match="cut off, or more than"):
        parts_of(bomb, "j")


def test_g11_neither_are_they_in_parts(monkeypatch):
    contents = [packing._compressed({f"a-{n}": Entry(msgspec.Raw(b'"' + b"x" * 60_000 + b'"'), 1, "c")}) for n in "ab"]
    parts = tuple(packing._Part(f"j-{n}", zlib.crc32(each)) for n, each in enumerate(contents))
    head = packing._compressed(packing._Head(Journal.new(), parts))
    packed = Packed(head, {"j-0": contents[0], "j-1": contents[1]})
    assert len(unpack(packed).entries) == 2
    monkeypatch.setattr(packing, "READABLE_BYTES", 100_000)

    with pytest.raises(UnreadableJournalError, match="cut off, or more than"):
        unpack(packed)


def test_g5_what_is_cut_off_is_no_journal():
    packed = pack(journal(3), "j", None)

    with pytest.raises(UnreadableJournalError, match="cut off"):
        unpack(Packed(packed.head[:-9], {}))


def test_g5_a_part_that_is_missing_or_not_what_was_written_is_no_journal():
    packed = pack(journal(100), "j", None)
    name = next(iter(packed.parts))

    for parts in ({}, {**packed.parts, name: b"something else"}):
        with pytest.raises(UnreadableJournalError, match="missing or not what was written"):
            unpack(Packed(packed.head, parts))


@pytest.mark.parametrize("content", [b"nonsense", packing._compressed([1])])
def test_g12_what_is_no_journal_is_not_quoted(content):
    with pytest.raises(UnreadableJournalError, match=r"^its content cannot be read$"):
        parts_of(content, "j")


configs = st.dictionaries(
    st.text("abc", min_size=1, max_size=4),
    st.binary(max_size=900).map(lambda noise: msgspec.Raw(json.dumps({"noise": noise.hex()}).encode())),
    max_size=30,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(configs, configs)
def test_g5_whatever_is_written_over_whatever_comes_back_as_it_was(first, second):
    before, _ = Journal.new().taking(Changes(changes=tuple(Change(*each) for each in first.items())), "a")
    after, _ = before.taking(Changes(changes=tuple(Change(*each) for each in second.items())), "b")

    packed = pack(before, "j", None)

    assert unpack(packed) == before
    assert unpack(pack(after, "j", packed)) == after
    assert pack(before, "j", packed).parts == packed.parts
