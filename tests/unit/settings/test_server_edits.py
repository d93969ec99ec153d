import pytest

from tooltray.errors import Conflict, NotFound
from tooltray.files.json_text import revision_of
from tooltray.settings import server_edits
from tooltray.settings.document import Document

ENTRY = {"command": "one"}


def document() -> Document:
    return {"mcpServers": {"a": dict(ENTRY), "b": {"command": "two"}}, "defaultServers": ["a", "b"]}


def test_a_server_goes_with_its_place_among_those_that_start_with_the_hub() -> None:
    server_edits.without_entry("a", revision_of(ENTRY))(after := document())
    assert after == {"mcpServers": {"b": {"command": "two"}}, "defaultServers": ["b"]}


def test_a_server_that_is_another_one_by_now_stays() -> None:
    for edit in (
        server_edits.without_entry("a", revision_of({"command": "seen"})),
        server_edits.entry("a", {"command": "new"}, is_default=None, revision=revision_of({"command": "seen"}), is_new=False),
    ):
        with pytest.raises(Conflict):
            edit(after := document())
        assert after == document()


def test_a_server_that_nobody_has_is_not_removed() -> None:
    with pytest.raises(NotFound, match="gone"):
        server_edits.without_entry("gone", "")(document())


def test_what_an_edit_changed_and_removed_is_noted() -> None:
    def edit(document: Document) -> None:
        servers = document["mcpServers"]
        assert isinstance(servers, dict)
        servers["a"]["args"] = ["x"]
        del servers["b"]
        servers["c"] = {"command": "new"}

    watched = server_edits.Watched(edit)
    watched(document())
    assert watched.edited == ("a", "b")
