"""Filters say what they mean, in whatever words, and nothing in them is taken for SQL."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.journals import NOW, entry, ids, journal_of

from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.records.journal.journal_queries import MOST_CHOICES, kept_session, shown_session
from tooltray.records.journal.journal_reader import JournalReader

ENTRIES = (
    entry(kind="call", touched="/home/Ada/100%_sure.txt", at=NOW),
    entry(kind="call", outcome="error", server="Web", tool="GET_page", client="Claude Code", reason="ÄRGER: Straße", at=NOW + 10),
    entry(kind="start", client="", server="Web", tool="", project="/srv/Tooltray", at=NOW + 20),
    entry(kind="call", server="files", tool="write_file", client="Über", session="s7", published="read_me", at=NOW + 30),
)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JournalReader]:
    with journal_of(Path(tmp_path_factory.mktemp("journal"), "activity.db"), *ENTRIES) as reader:
        yield reader


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, [4, 3, 2, 1]),
        ({"kinds": ("call",)}, [4, 2, 1]),
        ({"kinds": ("call", "start"), "outcomes": ("ok",)}, [4, 3, 1]),
        ({"clients": ("Cursor", "Über")}, [4, 1]),
        ({"clients": ("",)}, [3]),
        ({"sessions": ("s7",)}, [4]),
        ({"projects": ("/srv/Tooltray",)}, [3]),
        ({"servers": ("Web",), "tools": ("GET_page",)}, [2]),
        ({"servers": ("nowhere",)}, []),
        ({"since": NOW + 10}, [4, 3, 2]),
        ({"until": NOW + 10}, [1]),
        ({"text": "ada"}, [1]),
        ({"text": "  100%_SURE "}, [1]),
        ({"text": "0_"}, []),
        ({"text": "%"}, [1]),
        ({"text": "get_"}, [2]),
        ({"text": "claude"}, [2]),
        ({"text": "WEB"}, [3, 2]),
        ({"text": "tooltray"}, [3]),
        ({"text": "ärger"}, [2]),
        ({"text": "ÜBER"}, [4]),
        ({"text": "read_me"}, []),
        ({"text": "x' OR '1'='1"}, []),
        ({"text": "\\"}, []),
        ({"text": "\ud800"}, []),
        ({"servers": ("\ud800", "nowhere")}, []),
        ({"text": "ada", "kinds": ("start",)}, []),
        ({"tools": (*(f"t{number}" for number in range(MOST_CHOICES)), "write_file")}, []),
    ],
)
def test_a_filter_finds_what_it_says(reader: JournalReader, wanted: dict[str, Any], expected: list[int]) -> None:
    assert ids(reader.rows(ActivityFilter(**wanted), 0, 100, collapsed=False)) == expected


def test_an_id_of_any_size_may_be_asked_for(reader: JournalReader) -> None:
    assert ids(reader.rows(ActivityFilter(), 2**70, 100, collapsed=True)) == [4, 3, 2, 1]
    assert reader.rows(ActivityFilter(), -(2**70), 100, collapsed=False) == []
    assert reader.details(2**70) is None


def test_a_text_of_any_length_may_be_looked_for(reader: JournalReader) -> None:
    assert ids(reader.rows(ActivityFilter(text="ß" * 100_000), 0, 100, collapsed=False)) == []


def test_sessions_are_marked_with_the_run_of_their_hub() -> None:
    assert [kept_session(each, "r1") for each in ("s1", "", "s1.r0")] == ["s1.r1", "", "s1.r0"]
    assert kept_session("s1", "") == "s1"
    assert [shown_session(each, "r1") for each in ("s1.r1", "", "s1.r0")] == ["s1", "", "s1.r0"]
    assert shown_session("s1", "") == "s1"
