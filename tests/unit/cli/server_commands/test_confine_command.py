"""`tooltray servers confine`, with a running hub and without one."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.server_commands import confine_command
from tooltray.cli.server_commands.confine_command import confinement_words
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, SeenThing, WatchProposal, WatchSnapshot

NOW = {"files": "own", "network": "hosts", "hosts": ["a.org"], "read": ["/srv"], "write": ["/x"], "missing": ["It does not get ~."]}


def test_without_options_it_is_shown(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_confinement": NOW}) as hub:
        lines = tooltray("servers", "confine", "s").out.splitlines()
        assert hub.methods() == ["get_confinement"]
    assert lines == ["s: sandboxed, only these hosts: a.org", "  may read /srv", "  may change /x", "  It does not get ~."]


def test_what_was_refused_is_shown_and_allowed(tooltray: Tooltray, hub_home: Home) -> None:
    things = [("host", "b.org:443", False), ("path", "/x", True), ("unknown", "", False)]
    refused = [{"kind": kind, "name": name, "at": 1.0, "is_write": is_write} for kind, name, is_write in things]
    with FakeControlHub(hub_home, {"get_confinement": {**NOW, "refused": refused}, "allow_refused": NOW}) as hub:
        lines = tooltray("servers", "confine", "s").out.splitlines()
        assert lines[-3:] == ["  may not access b.org:443", "  may not change /x", "  something was refused"]
        for name, kind in (("b.org:443", "host"), ("/x", "path")):
            tooltray("servers", "confine", "s", "--allow", name)
            assert hub.params_of("allow_refused") == {"server": "s", "kind": kind, "name": name}


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["read"], {"files": "read"}),
        (["--network", "none"], {"network": "none"}),
        (["own", "--host", "b.org", "--host", "c.org"], {"hosts": ["b.org", "c.org"]}),
        (["--read", "/r", "--write", "/w"], {"read": ["/r"], "write": ["/w"]}),
        (["--host", "none", "--read", "none", "--write", "none"], {"hosts": [], "read": [], "write": []}),
    ],
)
def test_what_is_given_replaces_what_was_and_the_rest_stays(
    tooltray: Tooltray, hub_home: Home, words: list[str], given: dict[str, Any]
) -> None:
    with FakeControlHub(hub_home, {"get_confinement": NOW, "set_confinement": NOW}) as hub:
        tooltray("servers", "confine", "s", *words)
        kept = {key: NOW[key] for key in ("files", "network", "hosts", "read", "write")}
        assert hub.params_of("set_confinement") == {"server": "s", **kept, **given}


def test_what_was_named_before_is_kept_and_said_to_be(tooltray: Tooltray, hub_home: Home) -> None:
    opened = {**NOW, "files": "open", "network": "open", "missing": []}
    with FakeControlHub(hub_home, {"get_confinement": NOW, "set_confinement": opened}):
        lines = tooltray("servers", "confine", "s", "open", "--network", "open").out.splitlines()
    assert lines == [
        "s: not sandboxed: can do anything you can",
        "  when sandboxed again: /srv",
        "  when sandboxed again: /x",
        "  when limited to hosts again: a.org",
    ]


def test_it_is_written_where_no_hub_runs(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "mcpServers": {"s": {"command": "p"}}}))
    assert tooltray("servers", "confine", "s", "own").code == 0
    assert json.loads(hub_home.settings.read_text())["mcpServers"]["s"]["confinement"] == {"files": "own"}


@pytest.mark.parametrize(
    ("confinement", "words"),
    [
        (ConfinementSnapshot(), "not sandboxed: can do anything you can"),
        (ConfinementSnapshot("read", "none"), "read only, no network"),
        (ConfinementSnapshot(network="none"), "all files, no network"),
        (ConfinementSnapshot("own"), "sandboxed, full network"),
        (ConfinementSnapshot("own", is_in_vain=True), "not sandboxed: not supported on this system"),
    ],
)
def test_it_is_said_in_a_line(confinement: ConfinementSnapshot, words: str) -> None:
    assert confinement_words(confinement) == words


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
    assert "git runs without a sandbox now" in result.err
    assert "It may change ~/notes." in result.out
    assert "The network stays open because it listened on 0.0.0.0:80." in result.out
    assert "It would have refused 3 of the observed accesses:" in result.out
    assert "private, so never proposed" in result.out
    assert "\x1b" not in result.out
    assert "git is sandboxed like this from now on." in used.err
    assert json.loads(in_json.out)["proposal"]["files"] == "own"
    assert [verb for verb, _ in hub.calls].count("apply_proposal") == 1


def test_where_nothing_was_seen_that_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, hub_of("done", None)):
        result = tooltray("servers", "watch", "git")
    assert (result.code, result.out) == (1, "git did nothing that was recorded.\n")


def test_a_person_is_asked_and_may_end_it_earlier(person: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(confine_command.time, "sleep", interrupt)
    answers = hub_of("watching") | {"stop_watching": hub_of("done")["get_watch"]}
    with FakeControlHub(hub_home, answers) as hub:
        person("servers", "watch", "git", typed="n\n")
        assert "apply_proposal" not in [verb for verb, _ in hub.calls]
        person("servers", "watch", "git", typed="y\n")
        assert [verb for verb, _ in hub.calls][-2:] == ["stop_watching", "apply_proposal"]
