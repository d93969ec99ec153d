"""effects.py: commands do not claim what the hub does not say."""

from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

CLIENT = {"client": "acme", "title": "Acme", "mode": "", "shown_mode": "everything", "reason": "so it is", "profile": "", "is_seen": True}
NOTICE = {"title": "Somebody made a slip", "message": "work: must be an object", "hint": ""}
COMMANDS = [
    (["profiles", "set", "work"], "The profile work is in the settings, and does not count"),
    (["clients", "mode", "acme", "lazy"], "What was chosen is in the settings, and does not count"),
    (["clients", "mode", "acme", "--profile", "work"], "What was chosen is in the settings, and does not count"),
    (["servers", "lazy", "files", "on"], "What was chosen is in the settings, and does not count"),
]


def answers(*notices: dict[str, str]) -> dict[str, Any]:
    done = dict.fromkeys(("set_profile", "set_client_mode", "set_client_profile", "set_lazy_load"))
    snapshot = hub_snapshot() | {"notices": list(notices)}
    return done | {"get_profiles": [], "get_client_modes": [CLIENT], "get_sessions": [], "get_snapshot": snapshot}


@pytest.mark.parametrize(("words", "said"), COMMANDS)
def test_what_was_written_and_does_not_count_is_no_success(tooltray: Tooltray, hub_home: Home, words: list[str], said: str) -> None:
    with FakeControlHub(hub_home, answers(NOTICE)) as hub:
        result = tooltray(*words)
        hub.answers |= answers()
        unexplained = tooltray(*words)
    assert (result.code, result.out) == (1, "")
    assert said in result.err
    assert "Somebody made a slip: work: must be an object" in " ".join(result.err.split())
    assert "something else has changed the settings" in " ".join(unexplained.err.split())


@pytest.mark.parametrize("overrides", [["read"], {"read": "look"}, {"read": {"name": 3}}])
def test_an_override_that_cannot_be_used_is_replaced(tooltray: Tooltray, hub_home: Home, overrides: Any) -> None:
    entry = {"name": "files", "entry": {}, "counts": {"toolOverrides": overrides}}
    with FakeControlHub(hub_home, {"get_server_entry": entry, "set_tool_override": None, "get_tools": [], **answers()}) as hub:
        tooltray("tools", "override", "files", "read", "--description", "New")
    params = {"server": "files", "tool": "read", "name": None, "description": "New"}
    assert ("set_tool_override", params) in hub.calls
