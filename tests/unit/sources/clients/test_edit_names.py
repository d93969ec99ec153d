"""edit_names.py: what the name of an edit says."""

from tooltray.sources.clients.edit_names import is_taken_out, name_of, parts_of


def test_a_name_says_what_is_done_for_which_client_in_which_file() -> None:
    name = name_of("mend", "cursor", "C:\\me\\mcp.json")
    assert name == "mend:cursor:C:\\me\\mcp.json"
    assert parts_of(name) == ("mend", "cursor", "C:\\me\\mcp.json")


def test_a_name_that_is_none_of_ours_is_of_no_client() -> None:
    assert parts_of("erase:cursor:/x") == ("connect", "", "erase:cursor:/x")
    assert parts_of("") == ("connect", "", "")


def test_only_disconnecting_takes_out() -> None:
    taken_out = {action: is_taken_out(f"{action}:cursor:/x") for action in ("connect", "mend", "remove", "disconnect", "erase")}
    assert [action for action, is_out in taken_out.items() if is_out] == ["disconnect"]
