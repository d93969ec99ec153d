"""docs/protocol.md: every file and test that it names exists, and every page of the specification has its section."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "docs" / "protocol.md"
CODE, TESTS = ROOT / "desktop" / "tooltray", ROOT / "tests"
PAGES = (
    "basic/index",
    *("basic/versioning", "basic/transports/index", "basic/transports/stdio", "basic/transports/streamable-http"),
    *(f"basic/patterns/{name}" for name in ("index", "mrtr", "cancellation", "progress", "subscriptions")),
    "basic/authorization/index",
    *(f"basic/authorization/{name}" for name in ("authorization-server-discovery", "client-registration", "security-considerations")),
    *(f"server/{name}" for name in ("discover", "tools", "resources", "prompts")),
    *(f"server/utilities/{name}" for name in ("caching", "completion", "logging", "pagination")),
    *(f"client/{name}" for name in ("elicitation", "sampling", "roots")),
)
"""Of 2026-07-28, those with rules."""
QUOTED = re.compile(r"`([^`]+)`")
IN_SUITE = re.compile(r"suite\b[^`]*(?:`[a-z0-9/*-]+`(?:, | to | and )?)+")


class Row(NamedTuple):
    rule: str
    kept: str
    shown: str


def rows() -> list[Row]:
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| ") and not line.startswith("| rule")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert [row for row in cells if len(row) != 3] == []
    return [Row(*row) for row in cells]


def named_in(shown: str) -> Iterator[tuple[str, str]]:
    """The file and the name of each test; an empty name where a whole file is meant."""
    file = ""
    for quoted in QUOTED.findall(IN_SUITE.sub("", shown)):
        path, _, name = quoted.partition("::")
        file = path or file
        yield file, name


def is_defined(file: str, name: str) -> bool:
    path = TESTS / file
    return path.is_file() and (not name or f"def {name}(" in path.read_text("utf-8"))


def test_every_rule_says_where_it_is_kept_and_what_shows_it() -> None:
    assert [row.rule for row in rows() if not all(row)] == []
    assert len({row.rule for row in rows()}) == len(rows())


def test_every_test_that_is_named_is_there() -> None:
    named = [each for row in rows() for each in named_in(row.shown)]
    assert len(named) > len(PAGES)
    assert [f"{file}::{name}" for file, name in named if not is_defined(file, name)] == []


def test_every_file_that_is_named_is_there() -> None:
    places = [quoted for row in rows() for quoted in QUOTED.findall(row.kept) if re.fullmatch(r"[a-z_/0-9]+(?:\.py|/)", quoted)]
    assert len(places) > len(PAGES)
    assert [place for place in places if not (CODE / place).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_the_specification_has_its_section(page: str) -> None:
    assert f"[{page}](https://modelcontextprotocol.io/specification/2026-07-28/{page.removesuffix('/index')})" in TABLE.read_text("utf-8")
