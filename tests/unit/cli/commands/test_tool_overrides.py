"""tool_overrides.py, where test_views_command.py does not show it"""

from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot, server_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

ICON = "https://example.org/i.png"


OLD = [{"src": "old"}]
HINTS = {"readOnlyHint": True, "title": "A"}


@pytest.mark.parametrize(
    ("words", "override"),
    [
        (["--title", "T"], {"title": "T", "annotations": HINTS, "icons": OLD}),
        (
            ["--hint", "readOnlyHint=own", "--hint", "openWorldHint=no"],
            {"annotations": {"openWorldHint": False, "title": "A"}, "icons": OLD},
        ),
        (
            ["--clear", "--icon", ICON, "--hint", "destructiveHint=yes"],
            {"annotations": {"destructiveHint": True}, "icons": [{"src": ICON}]},
        ),
        (["--clear", "--hint", "destructiveHint=own", "--title", "T"], {"title": "T"}),
    ],
)
def test_hints_change_one_by_one_and_all_else_as_a_whole(
    tooltray: Tooltray, hub_home: Home, words: list[str], override: dict[str, Any]
) -> None:
    before = {"annotations": HINTS, "icons": OLD, "title": 5}
    entry = {"name": "files", "entry": {}, "counts": {"toolOverrides": {"read": before}}}
    answers = {"get_server_entry": entry, "set_tool_override": None, "get_snapshot": hub_snapshot(server_snapshot("files", tool_count=1))}
    with FakeControlHub(hub_home, answers | {"get_tools": [{"original_name": "read", "name": "read"}]}) as hub:
        result = tooltray("tools", "override", "files", "read", *words)
    params = {"server": "files", "tool": "read", "name": None, "description": None, **override}
    assert hub.calls[1] == ("set_tool_override", params)
    assert result.out == "read of files is shown under its own name, in your words.\n"


@pytest.mark.parametrize("hint", ["readOnlyHint", "readOnlyHint=maybe", "title=yes"])
def test_what_is_no_hint_is_refused(tooltray: Tooltray, hub_home: Home, hint: str) -> None:
    with FakeControlHub(hub_home, {}) as hub:
        result = tooltray("tools", "override", "files", "read", "--hint", hint)
    assert (result.code, hub.calls) == (1, [])
    assert "Give one of readOnlyHint" in result.err
