"""remembered_variables.py"""

import json
import logging
import os
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.launch.remembered_variables import (
    MOST_SERVERS,
    VARIABLES,
    RememberedVariables,
    in_environ,
    is_started_in_terminal,
    meaning,
    shown,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "environment.json"


def values(path: Path) -> dict[str, str]:
    remembered = RememberedVariables(path)
    remembered.load()
    return {name: each.value for name, each in remembered.variables.items()}


@pytest.mark.posix
def test_what_a_person_has_is_remembered_without_what_nobody_may_write(path: Path) -> None:
    environ = {"SSL_CERT_DIR": "/tmp", "HTTPS_PROXY": "http://me:key@p:1", "SSH_AUTH_SOCK": "/tmp", "API_KEY": "key", "NO_PROXY": ""}
    RememberedVariables(path).remember(environ, is_all=False)
    assert values(path) == {"SSL_CERT_DIR": "/tmp"}
    assert has_mode(path, 0o600)
    assert "key" not in path.read_text()


@pytest.mark.posix
def test_a_desktop_adds_and_a_terminal_says_all(path: Path) -> None:
    remembered = RememberedVariables(path)
    remembered.remember({"SSL_CERT_DIR": "/tmp", "HTTPS_PROXY": "http://p:1"}, is_all=True)
    remembered.remember({"NO_PROXY": "a"}, is_all=False)
    assert values(path) == {"SSL_CERT_DIR": "/tmp", "HTTPS_PROXY": "http://p:1", "NO_PROXY": "a"}
    remembered.remember({"https_proxy": "http://q:1"}, is_all=False)  # the other spelling
    assert values(path) == {"SSL_CERT_DIR": "/tmp", "https_proxy": "http://q:1", "NO_PROXY": "a"}
    remembered.remember({"https_proxy": "http://me:key@q:1"}, is_all=False)  # another one now, and none to keep
    assert values(path) == {"SSL_CERT_DIR": "/tmp", "NO_PROXY": "a"}
    remembered.remember({"NO_PROXY": "a"}, is_all=True)
    assert values(path) == {"NO_PROXY": "a"}


def test_a_folders_environment_changes_nothing(path: Path) -> None:
    RememberedVariables(path).remember({"SSL_CERT_DIR": "/tmp", "DIRENV_DIR": "-/project"}, is_all=True)
    assert not path.exists()


def test_what_stays_the_same_keeps_its_day_and_is_not_written_again(path: Path) -> None:
    path.write_text(json.dumps({"variables": {"NO_PROXY": {"value": "a", "since": "2020-01-31"}}, "worked": {}}))
    before = path.stat()
    remembered = RememberedVariables(path)
    remembered.load()
    remembered.remember({"NO_PROXY": "a"}, is_all=True)
    assert remembered.variables["NO_PROXY"].since == "2020-01-31"
    assert path.stat() == before
    remembered.remember({"NO_PROXY": "a", "SSL_CERT_DIR": "/tmp"}, is_all=True)
    assert remembered.variables["NO_PROXY"].since == "2020-01-31"


def test_with_what_a_server_worked_is_kept_without_passwords_and_written_when_it_changes(path: Path) -> None:
    remembered = RememberedVariables(path)
    for _ in range(2):
        remembered.note_worked("a", {"NO_PROXY": "x", "http_proxy": "http://me:key@p:1", "SSL_CERT_FILE": "", "API_KEY": "key"})
    again = RememberedVariables(path)
    again.load()
    assert again.worked == {"a": {"NO_PROXY": "x", "http_proxy": None}}
    before = path.stat()
    again.note_worked("a", {"NO_PROXY": "x", "http_proxy": "http://me:other@p:1"})
    assert path.stat() == before
    assert "key" not in path.read_text()


def test_of_many_servers_the_latest_are_kept(path: Path) -> None:
    path.write_text(json.dumps({"variables": {}, "worked": {str(number): {} for number in range(MOST_SERVERS)}}))
    remembered = RememberedVariables(path)
    remembered.load()
    remembered.note_worked("new", {"NO_PROXY": "x"})
    assert list(remembered.worked)[-1] == "new"
    assert (len(remembered.worked), "0" in remembered.worked) == (MOST_SERVERS, False)
    remembered.note_worked("2", {"NO_PROXY": "y"})
    assert (len(remembered.worked), list(remembered.worked)[-1]) == (MOST_SERVERS, "2")


@pytest.mark.parametrize("content", ["", "[]", '{"variables": {"NO_PROXY": 1}, "worked": {}}', '{"variables": {}, "worked": {"a": 1}}'])
def test_a_file_that_is_not_understood_remembers_nothing(path: Path, content: str) -> None:
    path.write_text(content)
    assert values(path) == {}
    path.write_text('{"variables": {"API_KEY": {"value": "x", "since": ""}}, "worked": {}}')
    assert values(path) == {}


def test_where_there_is_no_file_nothing_is_remembered(path: Path) -> None:
    assert values(path) == {}


def test_what_is_forgotten_is_gone(path: Path) -> None:
    remembered = RememberedVariables(path)
    remembered.remember({"SSL_CERT_DIR": "/tmp"}, is_all=True)
    remembered.note_worked("a", {"NO_PROXY": "x"})
    remembered.forget()
    remembered.forget()
    assert (remembered.variables, remembered.worked, path.exists()) == ({}, {}, False)


def test_what_cannot_be_forgotten_is_told(path: Path) -> None:
    path.mkdir()
    with pytest.raises(TooltrayError, match="saved environment remains"):
        RememberedVariables(path).forget()


@pytest.mark.posix
@pytest.mark.expected_warnings("could not be written")
def test_a_file_that_cannot_be_written_is_told_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        RememberedVariables(tmp_path / "none" / "environment.json").remember({"SSL_CERT_DIR": "/tmp"}, is_all=True)
    assert "could not be written" in caplog.text


def test_a_terminal_is_known_by_one_of_the_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda number: number == 2)
    assert is_started_in_terminal()
    monkeypatch.setattr(os, "isatty", lambda number: False)
    assert not is_started_in_terminal()


KEY = "a1B2" * 8


@pytest.mark.posix
@pytest.mark.parametrize(
    ("name", "value", "may_be_kept"),
    [
        ("HTTPS_PROXY", "http://proxy.example:8080", True),
        ("http_proxy", "proxy.example:8080/", True),
        ("all_proxy", "socks5h://[::1]:1080", True),
        ("https_proxy", "http://me:key@proxy.example:8080", False),
        ("https_proxy", "me:key@proxy.example:8080", False),
        ("https_proxy", "http://proxy.example/?token=key", False),
        ("NO_PROXY", "localhost,127.0.0.1,.example,[::1],10.0.0.0/8", True),
        ("NO_PROXY", "a=b;key", False),
        ("UV_INDEX_URL", "https://packages.example/simple/", True),
        ("UV_INDEX", "own=https://one.example/simple https://two.example/simple", True),
        ("PIP_INDEX_URL", "https://__token__:key@packages.example/simple", False),
        ("PIP_INDEX_URL", f"https://packages.example/{KEY}/simple", False),
        ("UV_INDEX", "https://one.example/simple https://me@two.example/simple", False),
        ("UV_NATIVE_TLS", "true", True),
        ("UV_NATIVE_TLS", KEY, False),
        ("SSH_AUTH_SOCK", "/tmp", False),
        ("SSL_CERT_FILE", "relative.pem", False),
        ("SSL_CERT_FILE", "", False),
        ("SSL_CERT_FILE", "/no/such/file.pem", False),
        ("SSL_CERT_DIR", "/tmp:/no/such/folder", False),
        ("SSL_CERT_DIR", "/tmp:/", True),
    ],
)
def test_what_may_be_written_has_no_password_and_no_key_and_names_what_is_there(name: str, value: str, may_be_kept: bool) -> None:
    assert VARIABLES[name].can_be_remembered(value) is may_be_kept


def test_a_file_that_is_gone_is_not_used_and_an_address_always_is(tmp_path: Path) -> None:
    file = tmp_path / "company.pem"
    assert not VARIABLES["PIP_CERT"].can_be_used(str(file))
    file.touch()
    assert VARIABLES["PIP_CERT"].can_be_used(str(file))
    assert VARIABLES["SSH_AUTH_SOCK"].can_be_used(str(file))
    assert VARIABLES["HTTPS_PROXY"].can_be_used("anything")


def test_both_spellings_of_a_proxy_mean_the_same() -> None:
    assert meaning("HTTPS_PROXY") == meaning("https_proxy") != meaning("http_proxy")
    assert meaning("SSL_CERT_FILE") == "SSL_CERT_FILE"


def test_of_an_environment_only_those_of_the_table_are_taken() -> None:
    assert in_environ({"SSL_CERT_FILE": "/x", "API_KEY": "key", "no_proxy": ""}) == {"SSL_CERT_FILE": "/x", "no_proxy": ""}


@pytest.mark.parametrize("value", ["http://me:key@proxy:1", "me:key@proxy:1", "a=https://key@one/simple https://key@two/simple"])
def test_people_see_no_password(value: str) -> None:
    assert "key" not in shown(value)
    assert "***@" in shown(value)
