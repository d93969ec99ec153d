"""trusted_entries.py: what is trusted, and how servers are called."""

import asyncio
from pathlib import Path

import pytest

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.sources.project_files.trust_store import TrustStore
from tooltray.sources.project_files.trusted_entries import Trust


def trust(path: Path, *taken: str) -> Trust:
    return Trust(TrustStore(path / "trust.json"), is_taken=lambda name: name in taken, reserved=("hub",))


async def test_a_name_is_kept_from_first_sight_and_given_to_nobody_else(tmp_path: Path) -> None:
    book = trust(tmp_path)
    assert [book.name("/p/a", "one"), book.name("/p/b", "one"), book.name("/p/a", "one")] == ["one", "one-b", "one"]
    assert book.has_name("one-b")
    await book.save()
    await book.save()
    again = trust(tmp_path)
    assert [again.name("/p/b", "one"), again.name("/p/a", "one"), again.name("/p/c", "one")] == ["one-b", "one", "one-c"]
    assert list(again.entries()) == []


async def test_what_is_not_in_the_file_any_more_gives_its_name_free_unless_it_is_trusted(tmp_path: Path) -> None:
    book = trust(tmp_path)
    book.name("/p/a", "one")
    await book.say_yes("/p/a", {"two": "d"})
    book.forget_unseen("/p/a", ())
    assert [book.name("/p/b", "one"), book.name("/p/b", "two")] == ["one", "two-b"]


async def test_a_yes_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    book = trust(tmp_path)
    assert await book.say_yes("/p/a", {"one": "d1", "two": "d2"}) == ["one", "two"]
    assert (book.digest("/p/a", "one"), book.digest("/p/b", "one"), book.knows("/p/a"), book.knows("/p/b")) == ("d1", "", True, False)
    assert [(each.entry, each.server, each.is_own) for each in trust(tmp_path).entries()] == [("one", "one", False), ("two", "two", False)]
    assert await book.take_back("/p/a", "one") == ["one"]
    assert (book.digest("/p/a", "one"), book.name("/p/a", "one")) == ("", "one")
    for folder, entry, message in (("/p/a", "one", "'one' of '/p/a' is not trusted"), ("/p/b", "", "'/p/b' is not trusted")):
        with pytest.raises(NotFound, match=message):
            await book.take_back(folder, entry)
    assert await book.take_back("/p/a", "") == ["two"]
    assert list(trust(tmp_path).entries()) == []


async def test_two_at_once_lose_nothing(tmp_path: Path) -> None:
    book = trust(tmp_path)
    await asyncio.gather(*(book.say_yes("/p/a", {f"s{number}": "d"}) for number in range(10)))
    assert len(list(trust(tmp_path).entries())) == 10


async def test_a_yes_that_cannot_be_kept_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    book = trust(folder)
    assert book.problem is None
    folder.rmdir()
    with pytest.raises(TooltrayError, match="cannot be saved"):
        await book.say_yes("/p/a", {"one": "d1"})
    assert book.digest("/p/a", "one") == ""
    folder.mkdir()
    await book.save()  # the name
    assert trust(folder).has_name("one")
