"""`tooltray servers confine`, with a running hub and without one."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.server_commands.confine_command import confinement_words
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot

NOW = {"files": "own", "network": "hosts", "hosts": ["a.org"], "read": ["/srv"], "write": ["/x"], "missing": ["It does not get ~."]}


def test_without_options_it_is_shown(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_confinement": NOW}) as hub:
        lines = tooltray("servers", "confine", "s").out.splitlines()
        assert hub.methods() == ["get_confinement"]
    assert lines == ["s: own files, only these hosts: a.org", "  may read /srv", "  may change /x", "  It does not get ~."]


def test_what_was_refused_is_shown_and_allowed(tooltray: Tooltray, hub_home: Home) -> None:
    things = [("host", "b.org:443", False), ("path", "/x", True), ("unknown", "", False)]
    refused = [{"kind": kind, "name": name, "at": 1.0, "is_write": is_write} for kind, name, is_write in things]
    with FakeControlHub(hub_home, {"get_confinement": {**NOW, "refused": refused}, "allow_refused": NOW}) as hub:
        lines = tooltray("servers", "confine", "s").out.splitlines()
        assert lines[-3:] == ["  was kept from b.org:443", "  was kept from changing /x", "  something was refused"]
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
        "s: open: it can do all that you can",
        "  for when its files are confined again: /srv",
        "  for when its files are confined again: /x",
        "  for when it is kept to hosts again: a.org",
    ]


def test_it_is_written_where_no_hub_runs(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "mcpServers": {"s": {"command": "p"}}}))
    assert tooltray("servers", "confine", "s", "own").code == 0
    assert json.loads(hub_home.settings.read_text())["mcpServers"]["s"]["confinement"] == {"files": "own"}


@pytest.mark.parametrize(
    ("confinement", "words"),
    [
        (ConfinementSnapshot(), "open: it can do all that you can"),
        (ConfinementSnapshot("read", "none"), "read only, no network"),
        (ConfinementSnapshot(network="none"), "all files, no network"),
        (ConfinementSnapshot("own"), "own files, all of the network"),
        (ConfinementSnapshot("own", is_in_vain=True), "not confined: this system cannot do it"),
    ],
)
def test_it_is_said_in_a_line(confinement: ConfinementSnapshot, words: str) -> None:
    assert confinement_words(confinement) == words
