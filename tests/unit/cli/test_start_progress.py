"""cli/start_progress.py: what a person at a terminal sees while a server starts."""

import json
import sys
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, server_snapshot

from tooltray.cli.servers import progress_shown
from tooltray.control.control_client import ControlClient
from tooltray.home.home import Home


def changed(name: str, state: str, detail: str, problem: dict[str, str] | None = None) -> bytes:
    server = server_snapshot(name, state=state, detail=detail, problem=problem)
    return (
        json.dumps({"jsonrpc": "2.0", "method": "event", "params": {"type": "ServerChanged", "data": {"server": server}}}).encode() + b"\n"
    )


def shown_of(home: Home, *news: bytes) -> None:
    with FakeControlHub(home) as hub, progress_shown(home, "s"):
        other = ControlClient.connect(home)
        assert other is not None
        other.call("hub/info")  # the connection before it has been accepted
        for each in news:
            hub.send_raw(each, at=0)
        other.close()


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_each_step_of_the_start_is_shown_once(hub_home: Home, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at_terminal(monkeypatch)
    shown_of(
        hub_home,
        changed("s", "installing", "Downloading numpy"),
        changed("s", "installing", "Downloading numpy"),
        changed("other", "installing", "Downloading that"),
        b'{"jsonrpc":"2.0","method":"event","params":{"type":"ClientListUpdated","data":{}}}\n',
        changed("s", "restarting", "Starts again in 1 s", {"title": "'s' ended", "message": "", "hint": ""}),
        changed("s", "running", ""),
    )
    assert capsys.readouterr().err.splitlines() == ["s: Downloading numpy", "s: 's' ended. Starts again in 1 s"]


def test_nothing_is_shown_where_nobody_watches(hub_home: Home, capsys: Any) -> None:
    with FakeControlHub(hub_home) as hub, progress_shown(hub_home, "s"):
        pass
    assert (hub.hellos, capsys.readouterr().err) == ([], "")


def test_without_a_hub_or_with_one_that_cannot_be_reached_there_is_nothing_to_show(
    hub_home: Home, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_terminal(monkeypatch)
    with progress_shown(hub_home, "s"):
        pass
    hub_home.prepare()
    hub_home.control_socket.write_text("no socket")
    with progress_shown(hub_home, "s"):
        pass
    assert capsys.readouterr().err == ""
