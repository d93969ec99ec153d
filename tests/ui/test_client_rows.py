"""Each AI client is one row, though sessions, kinds of clients and the scan of this computer know it by different names."""

from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.ui.clients.client_table import client_rows, find_row

EVERYONE = ClientModeSnapshot("", "", "", "everything", "")
CLAUDE = ClientModeSnapshot("claude-ai", "Claude Desktop", "", "everything", "")
QWEN = ClientModeSnapshot("qwen-*", "Qwen Code", "", "everything", "")
SCAN = ClientScan(
    (
        AiClient("claude-desktop", "Claude Desktop", is_installed=True, connection="connected"),
        AiClient("qwen-code", "Qwen Code", is_installed=False),
        AiClient("jan", "Jan", is_installed=True, connection="broken"),
        AiClient("amp", "Amp", is_installed=True, connection="outdated"),
        AiClient("warp", "Warp", is_installed=True),
    )
)


def session(id: str, client: str, **fields: object) -> SessionSnapshot:
    return replace(SessionSnapshot(id, client), **fields)


def test_a_client_that_three_sources_know_is_one_row(app: QApplication) -> None:
    sessions = [session("1", "claude-ai", kind="claude-ai"), session("2", "claude-ai", is_connected=False)]
    here, others = client_rows([EVERYONE, CLAUDE, QWEN], sessions, SCAN)
    assert [row.name for row in here] == ["Claude Desktop", "Jan", "Amp", "Warp"]
    assert (here[0].kind, here[0].found, here[0].sessions) == (CLAUDE, SCAN.clients[0], (sessions[0],))
    assert [(row.name, row.kind) for row in others] == [("Qwen Code", QWEN)]


def test_a_session_belongs_to_its_kind_by_that_by_name_or_by_pattern_else_to_a_row_of_its_own(app: QApplication) -> None:
    sessions = [session("1", "claude-2", kind="claude-ai"), session("2", "qwen-7"), session("3", "odd"), session("4", "")]
    here, _ = client_rows([CLAUDE, QWEN], sessions, None)
    assert {row.name: [each.id for each in row.sessions] for row in here} == {
        "A client without a name": ["4"],
        "Claude Desktop": ["1"],
        "Qwen Code": ["2"],
        "odd": ["3"],
    }


def test_kinds_that_are_neither_installed_nor_seen_nor_chosen_for_are_no_rows(app: QApplication) -> None:
    kinds = [CLAUDE, replace(QWEN, is_seen=True), replace(CLAUDE, client="x", title="X", flow_guard=False)]
    kinds.append(replace(CLAUDE, client="y", title="Y", csv_tables=False))
    here, others = client_rows(kinds, [], None)
    assert ([row.name for row in here], others) == (["Qwen Code", "X", "Y"], [])
    assert all(row.uses_tooltray for row in here)


def test_only_what_uses_tooltray_costs_tokens(app: QApplication) -> None:
    here, _ = client_rows([CLAUDE], [], SCAN)
    assert {row.name: row.uses_tooltray for row in here} == {"Jan": False, "Amp": True, "Claude Desktop": True, "Warp": False}
    assert [list(row.groups) for row in here][2:] == [[("everything", "")], [("", "")]]


def test_a_row_is_found_by_each_of_its_names(app: QApplication) -> None:
    here, others = client_rows([CLAUDE, QWEN], [], SCAN)
    rows = [*here, *others]
    for name in ("claude-ai", "claude-desktop", "Claude Desktop"):
        assert getattr(find_row(rows, name), "name", "") == "Claude Desktop"
    assert getattr(find_row(rows, "qwen-7"), "name", "") == "Qwen Code"
    assert find_row(rows, "nothing") is None
