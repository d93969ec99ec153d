"""What the window says of AI clients on this computer."""

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from tests.fakes.found_clients import CHANGES, EDITS, SCAN

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.foundation.snapshots.clients import SessionSnapshot
from tooltray.ui.clients import client_words as said
from tooltray.ui.clients.client_table import ClientRow
from tooltray.ui.kit.scan_words import scan_text, scan_title

CLAUDE, CURSOR, CODEX, GEMINI, ZED, STUDIO, WARP, _ = SCAN.clients
SESSION = SessionSnapshot("1", "c")


def test_who_is_here_is_one_sentence_and_many_are_counted(app: QApplication) -> None:
    def scan(*clients: AiClient) -> ClientScan:
        return ClientScan(clients)

    assert scan_title(scan(CLAUDE)) == "Found Claude Code."
    assert scan_title(scan(CLAUDE, CURSOR)) == "Found Claude Code and Cursor. Cursor is set up."
    assert scan_title(scan(CLAUDE, CURSOR, CODEX)) == "Found Claude Code, Cursor and Codex. Cursor and Codex are set up."
    assert scan_title(SCAN) == "Found Claude Code, Cursor, Codex, Gemini CLI and 2 more. Cursor and Codex are set up."
    assert scan_title(scan(WARP)) == "No supported AI client found on this computer."


@pytest.mark.parametrize(
    ("servers", "different", "new", "secrets", "text"),
    [
        (11, 7, 7, 5, "11 servers in their settings, 7 different ones. 5 keys in plain text."),
        (3, 3, 3, 1, "3 servers in their settings. 1 key in plain text."),
        (1, 1, 1, 0, "1 server in their settings."),
        (1, 1, 0, 0, "1 server in their settings. It is in Tooltray already."),
        (3, 2, 0, 0, "3 servers in their settings, 2 different ones. All 3 are in Tooltray already."),
        (0, 0, 0, 0, "They have no servers of their own."),
    ],
)
def test_what_they_hold_is_counted(app: QApplication, servers: int, different: int, new: int, secrets: int, text: str) -> None:
    assert scan_text(replace(SCAN, servers=servers, different_servers=different, plain_secrets=secrets, new_servers=new)) == text


def test_nothing_is_said_of_what_nobody_holds(app: QApplication) -> None:
    assert scan_text(ClientScan((WARP,))) == ""
    assert scan_text(ClientScan((CLAUDE,))) == "It has no servers of its own."


def rows(*clients: AiClient, sessions: tuple[SessionSnapshot, ...] = ()) -> list[ClientRow]:
    return [ClientRow(client.id, client.name, found=client, sessions=sessions) for client in clients]


def test_each_state_has_a_shape_and_a_word_of_its_own(app: QApplication) -> None:
    shown = [*rows(CLAUDE, sessions=(SESSION,)), *rows(CLAUDE, CURSOR, CODEX, ZED), ClientRow("x", "X")]
    looks = [said.state_look(row) for row in shown]
    assert [look.word for look in looks] == ["Connected", "Not set up", "Set up", "Old entry", "Does not work", "Disconnected"]
    assert len({look.icon for look in looks}) == 5
    assert len({said.state_tip(row) for row in shown}) == 6
    assert said.state_look(rows(WARP)[0]).word == "Not installed"


def test_the_button_says_what_there_is_to_do(app: QApplication) -> None:
    words = [said.button_word(row) for row in rows(*SCAN.clients)]
    assert words == ["Connect", "Disconnect", "Mend", "Connect", "", "Connect", "", ""]
    assert [said.button_word(row) for row in rows(CLAUDE, CURSOR, sessions=(SESSION,))] == ["", "Disconnect"]
    assert said.button_word(ClientRow("x", "X")) == ""


def test_it_is_said_that_nobody_can_tell_whether_a_client_runs(app: QApplication) -> None:
    assert [said.presence(client) for client in (CLAUDE, CURSOR, CODEX, WARP)] == ["Running", "Not running", "Installed", "Not installed"]


def test_connecting_all_leaves_out_what_needs_a_person_or_is_connected(app: QApplication) -> None:
    assert said.to_connect(SCAN) == [CLAUDE, CODEX, GEMINI]


def test_our_own_entry_is_not_one_of_its_servers(app: QApplication) -> None:
    assert [each.name for each in said.own_servers(CURSOR)] == ["github"]


def test_changes_are_said_as_what_was_done(app: QApplication) -> None:
    assert [said.change_word(change, "X") for change in CHANGES] == [
        "X is set up",
        "The entry in X is mended",
        "2 servers were taken out of X",
    ]
    assert said.change_word(replace(CHANGES[2], servers=("a",)), "X") == "1 server was taken out of X"
    assert said.change_word(replace(CHANGES[0], action="disconnect"), "X") == "X is disconnected"
    assert said.change_word(replace(CHANGES[0], action="skill"), "X") == "The skill for X is written"
    assert said.edit_word(replace(EDITS[1], action="skill"), "X") == "Write the skill for X"
    assert said.change_word(replace(CHANGES[0], action="undo"), "X") == "A change in X was undone"
    assert [said.edit_word(edit, "X") for edit in EDITS[1:3]] == ["Connect X", "Mend the entry in X"]


def test_what_undo_will_do_is_said_before(app: QApplication) -> None:
    assert [said.undo_word(change) for change in CHANGES] == [
        "Undo makes the file what it was, to the byte.",
        "The file has changed since. Undo reverses only this change.",
        "",
    ]


def test_a_copy_without_a_key_is_said_to_be_none(app: QApplication) -> None:
    plain = replace(CHANGES[1], is_encrypted=False)
    assert said.change_note(plain) == "Restart Codex. The copy for Undo is not encrypted: the place of your secrets could not be used."
    assert said.change_note(replace(plain, problem=Problem("No"))) == ""
    assert said.change_look(replace(plain, problem=Problem("No"))).word == "Not changed"
