"""trust.py: what is kept of trusted entries, in memory and on the disk, and the names of their servers."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.modes import has_mode

from tooltray.config.settings.given_entries import MAX_NAME_LENGTH, check_name
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.sources.project_files.trust import LARGEST_BYTES, KeptEntry, Trust, TrustStore, fitting, server_name

KEPT = {"/p": {"one": KeptEntry("one", "d1", 5.0, True), "two": KeptEntry("two-p")}, "/q": {}}


def test_what_is_trusted_is_there_again_after_a_restart_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    TrustStore(path).write(KEPT)
    again = TrustStore(path)
    assert again.kept == {"/p": KEPT["/p"]}
    assert again.problem is None
    assert has_mode(path, 0o600)


def test_what_an_entry_does_not_say_is_what_a_person_has_not_done(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    path.write_text('{"projects": {"/p": {"one": {"server": "one"}}}}')
    assert TrustStore(path).kept == {"/p": {"one": KeptEntry("one", digest="", trusted_at=0.0, is_own=False)}}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"version": 2}',
        '{"projects": {"/p": {"one": {}}}}',
        '{"projects": {"/p": {"one": {"server": "one", "trustedAt": -1}}}}',
        "[" * 100_000,
        " " * (LARGEST_BYTES + 1),
    ],
    ids=["empty", "half", "list", "newer", "no name", "odd time", "deep", "large"],
)
def test_what_cannot_be_read_is_set_aside_and_trusts_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "trust.json"
    path.write_text(content)
    store = TrustStore(path)
    assert store.kept == {}
    assert store.problem
    assert "is now in" in store.problem.message
    [aside] = tmp_path.glob("trust.json.broken-*")
    assert aside.read_text() == content
    assert store.lost == (str(aside),)
    store.write(KEPT)
    assert TrustStore(path).kept == {"/p": KEPT["/p"]}
    aside.unlink()
    assert TrustStore(path).lost == ()


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
    await book.allow("/p/a", {"two": "d"})
    book.forget_unseen("/p/a", ())
    assert [book.name("/p/b", "one"), book.name("/p/b", "two")] == ["one", "two-b"]


async def test_a_yes_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    book = trust(tmp_path)
    assert await book.allow("/p/a", {"one": "d1", "two": "d2"}) == ["one", "two"]
    assert (book.digest("/p/a", "one"), book.digest("/p/b", "one"), book.knows("/p/a"), book.knows("/p/b")) == ("d1", "", True, False)
    assert [(each.entry, each.server, each.is_own) for each in trust(tmp_path).entries()] == [("one", "one", False), ("two", "two", False)]
    assert await book.revoke("/p/a", "one") == ["one"]
    assert (book.digest("/p/a", "one"), book.name("/p/a", "one")) == ("", "one")
    for folder, entry, message in (("/p/a", "one", "'one' of '/p/a' is not trusted"), ("/p/b", "", "'/p/b' is not trusted")):
        with pytest.raises(NotFound, match=message):
            await book.revoke(folder, entry)
    assert await book.revoke("/p/a", "") == ["two"]
    assert list(trust(tmp_path).entries()) == []


async def test_two_at_once_lose_nothing(tmp_path: Path) -> None:
    book = trust(tmp_path)
    await asyncio.gather(*(book.allow("/p/a", {f"s{number}": "d"}) for number in range(10)))
    assert len(list(trust(tmp_path).entries())) == 10


async def test_a_yes_that_cannot_be_kept_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    book = trust(folder)
    assert book.problem is None
    folder.rmdir()
    with pytest.raises(TooltrayError, match="cannot be saved"):
        await book.allow("/p/a", {"one": "d1"})
    assert book.digest("/p/a", "one") == ""
    folder.mkdir()
    await book.save()  # the name
    assert trust(folder).has_name("one")


@pytest.mark.parametrize(
    ("written", "taken", "expected"),
    [
        ("one", (), "one"),
        ("one", ("one",), "one-shop"),
        ("one", ("one", "one-shop"), "one-shop-2"),
        ("one", ("one", "one-shop", "one-shop-2"), "one-shop-3"),
        ("hub", (), "hub-shop"),
        ("HUB", (), "HUB-shop"),
        ("fetch/a{b}", (), "fetch-a-b"),
        (" one ", (), "one"),
        ("a\nb", (), "a-b"),
        ("/", (), "server"),
        ("", (), "server"),
    ],
)
def test_a_server_is_called_as_in_its_file_if_that_can_be(written: str, taken: tuple[str, ...], expected: str) -> None:
    assert server_name(written, "/p/shop", lambda name: name not in taken, ("hub",)) == expected


def test_a_folder_without_a_name_tells_nothing_apart() -> None:
    assert server_name("one", "/", lambda name: name != "one") == "one-2"


@given(st.text(), st.text(), st.integers(0, 12))
def test_every_name_may_be_a_servers(written: str, folder: str, taken: int) -> None:
    names: set[str] = set()
    for _ in range(taken + 1):
        name = server_name(written, "/p/" + folder.replace("\0", ""), lambda name: name not in names, ("hub",))
        check_name(name, ("hub",))
        assert name not in names
        names.add(name)


def test_a_long_name_is_cut() -> None:
    assert fitting("x" * 100) == "x" * MAX_NAME_LENGTH
    assert len(server_name("x" * 100, "/p/shop", lambda name: name.endswith("-2"))) <= MAX_NAME_LENGTH
