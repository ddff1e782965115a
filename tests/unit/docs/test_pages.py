"""What the pages say is so: commands exist and take these options, names are the code's, manifests can be read."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
import yaml

import docs.reference
import proxy.metrics
import proxy.settings
import webhook.metrics
import webhook.settings
from cli.apps.options import spelled_out
from cli.main import parser
from tests.docs import reading
from webhook import names

ROOT = Path(__file__).parents[3]
PAGES = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
WRITTEN_FROM_RECORDS = {"baseline.md", "compatibility.md"}
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
STOP = {"|", "&", "&&", ";", ">", "<", "||"}


def commands(page, program):
    """The words after a program, of every line that calls it; up to what the shell takes for itself."""
    for line in reading.typed(page.read_text()):
        if line.startswith(f"{program} ") and "..." not in line and "[" not in line:
            words = shlex.split(line)[1:]
            yield words[: next((n for n, word in enumerate(words) if word in STOP), len(words))]


@each_page
def test_every_command_line_of_holdfast_can_be_parsed(page):
    for words in [*commands(page, "holdfast"), *(w[1:] for w in commands(page, "kubectl") if w[:1] == ["holdfast"])]:
        complaint = io.StringIO()
        with contextlib.redirect_stderr(complaint), contextlib.suppress(SystemExit):
            parser({"HOME": "~"}).parse_args(spelled_out(words))
        assert complaint.getvalue() == "", words


@each_page
def test_every_target_of_make_exists(page):
    known = {
        target
        for file in (ROOT / "Makefile", *(ROOT / "mk").glob("*.mk"))
        for target in re.findall(r"^([a-z][a-z0-9-]*):", file.read_text(), re.MULTILINE)
    }

    asked = {word for words in commands(page, "make") for word in words if re.fullmatch(r"[a-z][a-z-]*", word)}
    asked |= set(re.findall(r"`make ([a-z][a-z-]*)[ `]", page.read_text()))

    assert asked <= known


@each_page
def test_every_manifest_can_be_read(page):
    for text in reading.blocks(page.read_text(), "yaml"):
        assert list(yaml.safe_load_all(text))


@each_page
def test_every_name_of_ours_is_one_of_the_code(page):
    text = page.read_text()
    words = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}
    metrics = "".join(METRICS)
    settings = {
        f"{module.PREFIX}{field.upper()}"
        for module in (proxy.settings, webhook.settings)
        for field in module.Settings.__dataclass_fields__
    }

    annotations = set(re.findall(r"holdfast\.dev/[a-z-]+", text)) - {"holdfast.dev/by"}
    assert annotations <= words
    assert {each for each in re.findall(r"\bholdfast_[a-z_]+\b", text) if each not in metrics} == set()
    variables = set(re.findall(r"\bHOLDFAST_(?:WEBHOOK_)?[A-Z_]*[A-Z]\b", text))
    assert {each for each in variables if each not in settings and each not in ELSEWHERE} == set()


METRICS = [
    proxy.metrics.Metrics("v").print().decode(),
    webhook.metrics.Metrics("v").print().decode(),
    docs.reference.PAGES["metrics.md"](),
]
ELSEWHERE = {
    *(
        f"HOLDFAST_{name}" for name in ("NAMESPACE", "SERVICE", "SECRET", "CONFIGURATION", "CERTIFICATES")
    ),  # certs/place.py
    *("HOLDFAST_DEBUG", "HOLDFAST_RAY_ENV"),  # the command line
    *("HOLDFAST_CACHE", "HOLDFAST_TEST_IMAGES", "HOLDFAST_PAIRS"),  # make
}


@each_page
def test_every_path_that_is_named_exists(page):
    if page.name in WRITTEN_FROM_RECORDS:
        return
    places = "|".join(sorted(each.name for each in ROOT.iterdir() if each.is_dir() and not each.name.startswith(".")))
    named = re.findall(rf"(?<![\w/.-])((?:{places})/[\w./-]*\w)", page.read_text())

    assert [path for path in named if not (ROOT / path).exists() and not (page.parent / path).exists()] == []


def test_a_page_is_read_as_its_reader_reads_it():
    page = (
        'Write\n\n```yaml title="a.yaml"\nx: 1\n```\n\n```console\n$ cat a.yaml\nx: ...\n$ echo one \\\n    two\n'
        "one two\n```\n\n<!-- here: true -->\n```console\n$ kind create cluster\n```\n```\n$ not run\n```\n"
    )

    assert list(reading.steps(page)) == [
        reading.File("a.yaml", "x: 1\n"),
        reading.Command("cat a.yaml", ("x: ...",), 8),
        reading.Command("echo one \\\n    two", ("one two",), 10),
        reading.Command("true", (), 17),
    ]
    with pytest.raises(LookupError):
        reading.section(page, "Leave")
    assert reading.section("# A\n\n## Stay\n\n1\n\n## Leave\n\n2\n", "Leave") == "\n2\n"
    assert reading.replaced(page) == ["$ kind create cluster\n"]


@pytest.mark.parametrize(
    ("answers", "said", "is_so"),
    [
        (("x: ...",), "x: 1\n", True),
        (("x: ...",), "y: 1\n", False),
        (("a", "...", "z"), "a\nb\nc\nz\n", True),
        (("a", "...", "z"), "a\nb\n", False),
        (("a", "...", "z"), "a\nz\n", True),
        (("...", "z"), "z\n", True),
        (("a", "..."), "a\n", True),
        (("a.b",), "axb\n", False),
        (("a  ",), "a\n", True),
    ],
)
def test_what_a_page_shows_is_compared_line_by_line(answers, said, is_so):
    assert reading.matches(answers, said) is is_so
