"""Names and entries of servers, as somebody gives them."""

import pytest

from tooltray.config.settings.given_entries import UnusableEntry, check_name, read_given_entry
from tooltray.foundation.errors import TooltrayError


def test_what_would_run_inside_tooltray_is_added_by_a_person_at_a_terminal_alone() -> None:
    assert read_given_entry("s", {"command": "x"}).command == "x"
    with pytest.raises(UnusableEntry, match="would run inside Tooltray") as caught:
        read_given_entry("s", {"type": "inmemory", "command": "artifacts"})
    assert caught.value.path == ("type",)


@pytest.mark.parametrize("name", ["a", "x" * 64, "File System 2", "檔案", "a.b-c_d", "Hub", "🔌"])
def test_a_name_may_be_anything_printable(name: str) -> None:
    check_name(name, ("hub",))


@pytest.mark.parametrize("name", ["", "x" * 65, "a/b", "a\nb", " a", "a ", "hub", "a{b", "a}b", "a\x1b[31m", "\ud800", "\u202e"])
def test_other_names_are_refused_without_repeating_what_a_terminal_would_obey(name: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be the name of a server") as caught:
        check_name(name, ("hub",))
    assert str(caught.value).isprintable()
