"""`tooltray servers watch`."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.server_commands import watch_command
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, SeenThing, WatchProposal, WatchSnapshot

PROPOSAL = WatchProposal(
    "own",
    "open",
    read=("~/lib",),
    write=("~/notes",),
    opens_network=(SeenThing("bind", "0.0.0.0:80"),),
    refused=(SeenThing("read", "~/.ssh/id\x1b", True),),
    refused_count=3,
)


def hub_of(state: Any, proposal: WatchProposal | None = PROPOSAL) -> dict[str, Any]:
    return {
        "watch_server": as_json(WatchSnapshot("git", "watching", 0.0)),
        "get_watch": as_json(WatchSnapshot("git", state, 60.0, proposal=proposal)),
        "apply_proposal": as_json(ConfinementSnapshot("own")),
    }


def test_what_is_proposed_is_said_with_what_it_would_have_refused(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, hub_of("done")) as hub:
        result = tooltray("servers", "watch", "git", "--for", "90s")
        used = tooltray("servers", "watch", "git", "--yes")
        in_json = tooltray("servers", "watch", "git", "--json")
    assert result.code == used.code == 0
    assert "git runs unconfined now" in result.err
    assert "It may change ~/notes." in result.out
    assert "The network stays open because it listened on 0.0.0.0:80." in result.out
    assert "Of what was seen it would have refused 3:" in result.out
    assert "private, so never proposed" in result.out
    assert "\x1b" not in result.out
    assert "git is confined like this from now on." in used.err
    assert json.loads(in_json.out)["proposal"]["files"] == "own"
    assert [verb for verb, _ in hub.calls].count("apply_proposal") == 1


def test_where_nothing_was_seen_that_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, hub_of("done", None)):
        result = tooltray("servers", "watch", "git")
    assert (result.code, result.out) == (1, "Nothing was seen of git.\n")


def test_a_person_is_asked_and_may_end_it_earlier(person: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch_command.time, "sleep", interrupt)
    answers = hub_of("watching") | {"stop_watching": hub_of("done")["get_watch"]}
    with FakeControlHub(hub_home, answers) as hub:
        person("servers", "watch", "git", typed="n\n")
        assert "apply_proposal" not in [verb for verb, _ in hub.calls]
        person("servers", "watch", "git", typed="y\n")
        assert [verb for verb, _ in hub.calls][-2:] == ["stop_watching", "apply_proposal"]
