"""The answers that a hub has left: what a bridge takes of them, and what it ignores."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.left_answers import ANSWERS, INTRODUCED, left_in, read, write

from tooltray.foundation.home.home import Home
from tooltray_bridge import first_answers


@pytest.fixture
def kept(home: Path) -> Home:
    return left_in(home)


def test_each_request_has_the_answer_that_the_hub_gave_to_the_same_one(kept: Home) -> None:
    answers = read(kept)

    assert answers
    for asked, result in ANSWERS.items():
        assert answers.find(asked.introduction, asked.method.encode(), asked.params)[0] == result
    assert answers.find(INTRODUCED, b"tools/list", b'{"cursor":"1"}') == (b"", b"")
    assert answers.find(b'{"protocolVersion":"2024-11-05"}', b"tools/list", b"{}") == (b"", b"")
    assert answers.find(INTRODUCED, b"prompts/list", b"{}") == (b"", b"")


SPOILS: dict[str, Callable[[Home], object]] = {
    "the settings were changed": lambda kept: kept.settings.write_text("{} "),
    "the settings were replaced": lambda kept: (kept.root / "new").write_text("{}") and (kept.root / "new").replace(kept.settings),
    "the settings are gone": lambda kept: kept.settings.unlink(),
    "a file has come": lambda kept: kept.names.write_text("{}"),
    "the project has a file now": lambda kept: (kept.root.parent / ".mcp.json").write_text("{}"),
    "it is a folder": lambda kept: (kept.first_answers.unlink(), kept.first_answers.mkdir()),
    "it is missing": lambda kept: kept.first_answers.unlink(),
    "it is empty": lambda kept: kept.first_answers.write_bytes(b""),
    "it is of another format": lambda kept: replace(kept, b"answers 1 ", b"answers 2 "),
    "its size is no number": lambda kept: replace(kept, b"\n", b"x\n"),
    "its index is damaged": lambda kept: replace(kept, b"answer tools/list", b"answer tools/lisT"),
    "another version was installed": lambda kept: write(kept, program=b"1.2.3"),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_answers_that_a_hub_might_not_give_now_are_ignored(kept: Home, spoil: Callable[[Home], object]) -> None:
    spoil(kept)

    assert read(kept) is None


def replace(kept: Home, old: bytes, new: bytes) -> None:
    content = kept.first_answers.read_bytes()
    assert old in content
    kept.first_answers.write_bytes(content.replace(old, new, 1))


def test_what_is_cut_or_damaged_at_any_place_gives_no_wrong_answer(kept: Home) -> None:
    whole = kept.first_answers.read_bytes()
    for size in range(len(whole)):
        for content in (whole[:size], whole[:size] + b"#" + whole[size + 1 :]):
            kept.first_answers.write_bytes(content)
            answers = read(kept)
            if answers:
                found = [answers.find(asked.introduction, asked.method.encode(), asked.params)[0] for asked in ANSWERS]
                assert all(result in (b"", right) for result, right in zip(found, ANSWERS.values(), strict=True))


@pytest.mark.parametrize(("server", "profile", "folder"), [("echo", None, b"/"), (None, "work", b"/"), (None, None, b"/\xff")])
def test_another_kind_of_session_has_no_answers(kept: Home, server: str | None, profile: str | None, folder: bytes) -> None:
    assert first_answers.read(os.fsencode(kept.root), first_answers.facts(server, profile, folder)) is None
