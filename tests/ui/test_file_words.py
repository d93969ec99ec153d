"""What is said of files with servers in them: pure functions of snapshots."""

import pytest
from msgspec.structs import replace
from tests.ui.scenes.shown_files import DB, DEPLOY, NO_COMMAND, SHOP, SHOP_FILE, SITE, THIEF

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import TrustedEntry
from tooltray.foundation.snapshots.setup import FileEntrySnapshot, FileProblem, ReloadChange, ServerFileSnapshot
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.projects.file_words import (
    FolderRow,
    entry_look,
    file_kind,
    file_look,
    here,
    problem_line,
    problem_place,
    problem_title,
    reload_does_something,
    reload_file,
    reload_look,
    reload_name,
    row_servers,
    trust_text,
    unasked,
    waiting_entries,
    waiting_text,
    waiting_title,
)

PLAIN = ServerFileSnapshot(f"{SHOP}/.mcp.json", "mcp.json", project=SHOP)


@pytest.mark.parametrize(
    ("file", "word"),
    [
        (PLAIN, "In use"),
        (replace(PLAIN, exists=False), "Not there"),
        (replace(PLAIN, entries=(FileEntrySnapshot("a", "", "waits"), FileEntrySnapshot("b", "b", "changed"))), "2 wait"),
        (replace(PLAIN, problems=(NO_COMMAND, NO_COMMAND)), "2 problems"),
        (replace(PLAIN, exists=False, problems=(NO_COMMAND,)), "1 problem"),
    ],
)
def test_a_file_says_the_worst_that_is_so(file: ServerFileSnapshot, word: str) -> None:
    assert file_look(file).word == word


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (replace(PLAIN, is_for_all=False), "for clients in this folder"),
        (PLAIN, "for all clients"),
        (replace(PLAIN, kind="tbxark", project=""), "TBXark proxy, as started"),
    ],
)
def test_a_file_says_whom_it_is_for(file: ServerFileSnapshot, said: str) -> None:
    assert file_kind(file) == said


def test_the_root_has_a_name_too() -> None:
    assert (folder_name("/"), folder_name(SHOP)) == ("/", "shop")


@pytest.mark.parametrize(("state", "tone"), [("used", "success"), ("off", "neutral"), ("broken", "error"), ("anything new", "error")])
def test_an_entry_s_state_is_said_in_three_ways(state: str, tone: str) -> None:
    assert entry_look(FileEntrySnapshot("a", "", state)).tone == tone


def test_a_name_that_is_the_same_here_is_not_said_twice() -> None:
    assert [here(FileEntrySnapshot("a", name, "used")) for name in ("a", "a-shop", "")] == ["", "a-shop", ""]


def test_a_problem_names_its_entry_and_its_line_once() -> None:
    unnamed = FileProblem(Problem("it has no command", "line 7: nothing is there"), 7, "db")
    assert problem_title(NO_COMMAND) == "'search' cannot be used"
    assert problem_title(unnamed) == "db: it has no command"
    assert problem_line(unnamed) == ""
    assert problem_line(replace(unnamed, problem=Problem("it has no command"))) == "line 7"
    assert problem_place(SHOP_FILE, replace(unnamed, line=0)) == ".mcp.json of shop"


def test_what_waits_is_counted_by_server_and_by_project() -> None:
    assert waiting_title([DEPLOY]) == "shop brings the server deploy. Allow it?"
    assert waiting_title([DEPLOY, DB]) == "shop brings 2 servers. Allow them?"
    assert waiting_title([DEPLOY, DB, THIEF]) == "2 projects bring 3 servers. Allow them?"
    new, changed = replace(DEPLOY, project="", asked_by="ci"), replace(DB, project="", asked_by="ci")
    assert waiting_title([new]) == "A program wants to add the server deploy"
    assert waiting_title([changed]) == "A program wants to change the server db"
    assert waiting_title([new, changed]) == "Programs want to add or change 2 servers"
    assert waiting_title([new, THIEF]) == "2 servers are not allowed yet"
    assert "before you have seen" in waiting_text([new, THIEF])
    assert [waiting_entries(count) for count in range(3)] == [(), ("1 server is not allowed yet",), ("2 servers are not allowed yet",)]


def test_a_changed_file_says_that_the_old_goes_on() -> None:
    assert "has changed. What you allowed keeps running unchanged until you approve the new version." in trust_text([DB])
    assert "came with the project" in trust_text([DB, DEPLOY])


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ((), "none: every call asks"),
        (("read",), "calls that only read"),
        (("read", "all"), "all calls, also those that write"),
        (("names:get_*", "look"), "names:get_*, look"),
    ],
)
def test_what_goes_unasked_is_said_in_words(rules: tuple[str, ...], said: str) -> None:
    assert unasked(replace(DEPLOY, auto_approve=rules)) == said


def test_a_trusted_entry_says_how_it_is_called_here_where_that_is_another_name() -> None:
    assert row_servers(FolderRow(SITE, trusted=TrustedEntry(SITE, "db", "db-frontend", 0.0))) == "db (db-frontend)"
    assert row_servers(FolderRow(SITE, trusted=TrustedEntry(SITE, "db", "", 0.0))) == "db"


def test_a_plan_of_what_stays_and_of_what_waits_does_nothing() -> None:
    stays, waits, adds = (ReloadChange(kind, "db", f"{SHOP}/.mcp.json") for kind in ("keep", "wait", "add"))
    assert not reload_does_something([stays, waits])
    assert reload_does_something([stays, adds])
    assert reload_look(waits).word == "Asks you"
    assert reload_name(replace(stays, name="")) == ".mcp.json"
    assert [reload_file(replace(adds, file=path)) for path in (f"{SHOP}/.mcp.json", "/x.json")] == ["shop/.mcp.json", "x.json"]


def test_a_folder_s_name_shows_signs_that_nobody_sees_and_turns_nothing_round() -> None:
    hidden = "/srv/shop\u202egnp.\u200b"
    assert folder_name(hidden) == "shop?gnp.?"
    assert waiting_title([replace(DB, project=hidden)]) == "shop?gnp.? brings the server db. Allow it?"
    assert reload_file(ReloadChange("add", "db", f"{hidden}/.mcp.json")) == "shop?gnp.?/.mcp.json"
    assert visible_path("/srv/שלום/a b") == "/srv/שלום/a b"
