"""confinement.py: what an entry says of its confinement; a slip makes no server more open than was meant."""

from typing import Any

import pytest
from tests.fakes.file_servers import file_server

from tooltray.config.settings.confinement import LONGEST_HOST, LONGEST_PATH, MOST_HOSTS, MOST_PATHS, OPEN, Confinement
from tooltray.config.settings.file_server import with_file_servers
from tooltray.config.settings.given_entries import UnusableEntry, read_entry
from tooltray.config.settings.server_config import MCPServerConfig, config_hash
from tooltray.config.settings.settings_reading import read_settings


def read(confinement: object) -> Confinement:
    return read_entry("s", {"command": "p", "confinement": confinement}).confinement


@pytest.mark.parametrize(
    ("written", "files", "network"),
    [
        (None, "open", "open"),
        ("own", "own", "open"),
        ("read", "read", "open"),
        ({"files": "own", "network": "none"}, "own", "none"),
        ({"read": ["~/notes"]}, "own", "open"),
        ({"write": ["/srv"], "files": None}, "own", "open"),
        ({"files": "open", "read": ["/srv"]}, "open", "open"),
        ({"hosts": []}, "open", "hosts"),
        ({"hosts": ["api.example.org"], "network": "open"}, "open", "open"),
    ],
)
def test_what_is_left_out_is_read_as_its_writer_meant(written: object, files: str, network: str) -> None:
    found = read(written)
    assert (found.files, found.network, found.is_open) == (files, network, (files, network) == ("open", "open"))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("Own", "confinement.files: must be one of"),
        (True, "confinement: must be an object"),
        ({"file": "own"}, "confinement.file: is not known here"),
        ({"files": "own", "network": "no"}, "confinement.network: must be one of"),
        ({"hosts": ["https://example.org/"]}, "confinement.hosts.0: must be the name of a host"),
        ({"hosts": ["*"]}, "confinement.hosts.0: must be the name of a host"),
        ({"read": ["notes"]}, "confinement.read.0: must be the whole path"),
        ({"write": "/srv"}, "confinement.write: must be a list"),
        ({"hosts": ["a.example"] * (MOST_HOSTS + 1)}, f"confinement.hosts: there are more than {MOST_HOSTS}"),
        ({"read": ["/a"] * (MOST_PATHS + 1)}, f"confinement.read: there are more than {MOST_PATHS}"),
        ({"read": ["/" + "a" * LONGEST_PATH]}, "confinement.read.0: must be the whole path"),
        ({"hosts": ["a" * (LONGEST_HOST + 1)]}, "confinement.hosts.0: must be the name of a host"),
    ],
)
def test_an_entry_whose_confinement_cannot_be_read_is_not_used(written: object, why: str) -> None:
    with pytest.raises(UnusableEntry, match=why):
        read(written)


def test_it_is_written_as_it_was_given_and_means_no_other_program() -> None:
    config = read_entry("s", {"command": "p", "confinement": {"files": "own", "hosts": ["API.example.org:8443"]}})
    written = {"files": "own", "network": "hosts", "hosts": ["api.example.org:8443"]}
    assert config.to_entry() == {"command": "p", "confinement": written}
    assert config_hash(MCPServerConfig(command="p")) == config_hash(config)


@pytest.mark.parametrize(
    ("before", "after", "widens"),
    [
        ("open", {"files": "read", "network": "none"}, False),
        ("own", "open", True),
        ("read", "own", True),
        ("own", "read", False),
        ({"write": ["/a"]}, {"read": ["/a"]}, False),
        ({"read": ["/a"]}, {"write": ["/a"]}, True),
        ("own", {"read": ["/a"]}, True),
        ({"network": "none"}, {"hosts": []}, True),
        ({"network": "none"}, {"network": "none", "files": "own"}, False),
        ({"hosts": ["a", "b"]}, {"hosts": ["a"]}, False),
        ({"hosts": ["a"]}, {"hosts": ["b"]}, True),
        ({"hosts": ["a"]}, {"network": "none"}, False),
        ({"hosts": ["a"]}, OPEN, True),
        (OPEN, {"hosts": ["a"]}, False),
    ],
)
def test_more_files_or_hosts_widen_and_less_does_not(before: Any, after: Any, widens: bool) -> None:
    assert Confinement.model_validate(after).widens(Confinement.model_validate(before)) is widens


@pytest.mark.parametrize(
    ("before", "after", "needs_start"),
    [
        ("own", "own", False),
        ("own", "read", True),
        ("own", {"files": "own", "hosts": ["a"]}, True),
        ({"hosts": ["a"]}, {"hosts": ["b"]}, False),
        ({"hosts": ["a"]}, {"hosts": ["b"], "read": ["/r"]}, True),
        ({"hosts": ["a"]}, {"network": "none", "hosts": ["b"]}, True),
    ],
)
def test_a_server_that_runs_gets_other_hosts_without_a_restart_and_nothing_else(before: Any, after: Any, needs_start: bool) -> None:
    assert Confinement.model_validate(after).needs_start(Confinement.model_validate(before)) is needs_start


def test_what_it_allows_beyond_another_is_what_a_person_has_not_seen() -> None:
    before = Confinement.model_validate({"hosts": ["a"], "read": ["/r"], "write": ["/w"]})
    after = Confinement.model_validate({"hosts": ["a", "b"], "read": ["/r", "/w", "/new"], "write": ["/w", "/r"]})
    assert after.beyond(before) == {"files": "own", "network": "hosts", "hosts": ["b"], "read": ["/new"], "write": ["/r"]}


@pytest.mark.parametrize(
    ("choices", "confinement", "disable"),
    [
        ({"theirs": {"confinement": "own"}}, "own", False),
        ({"theirs": {"confinement": "own", "callTimeout": "long"}}, "open", True),
        ({"theirs": {"confinement": "onw"}}, "open", True),
        ({"theirs": "own"}, "open", True),
        (["theirs"], "open", True),
        ({}, "open", False),
    ],
)
def test_a_file_server_does_not_start_where_what_was_chosen_cannot_be_read(choices: Any, confinement: str, disable: bool) -> None:
    settings = read_settings({"version": 1, "fileServers": choices}).settings
    found = with_file_servers(settings, {"theirs": file_server("y")}).mcp_servers["theirs"]
    assert (found.confinement.files, found.disable) == (confinement, disable)
