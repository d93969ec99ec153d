"""secret_place.py: whether there is a place for secrets is known before a person types them."""

import getpass
import json
from collections.abc import Iterator

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.fakes.terminal import Terminal
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.run import run
from tooltray.cli.secret_place import SecretPlace
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

BUNDLE_FIELD = {"key": "KEY", "label": "Key", "is_secret": True, "is_required": True}
OPTION = {"id": "o", "kind": "npm", "label": "npx o", "fields": [BUNDLE_FIELD]}
ASKING = (
    ("secrets", "set", "git/KEY"),
    ("servers", "add", "git", "--secret", "KEY", "--", "run"),
    ("servers", "add", "far", "--url", "https://far.example/mcp", "--bearer-secret"),
    ("servers", "set", "here", "--secret", "KEY"),
    ("import", "--all", "--yes"),
    ("discover", "add", "io.example/o"),
    ("discover", "start", "s"),
    ("bundle", "install", "b.mcpb"),
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a person was asked for, who types the same each time."""
    questions: list[str] = []

    def typed(question: str) -> str:
        questions.append(question)
        return "open sesame"

    monkeypatch.setattr("sys.stdin", Terminal("y\n" * 9))
    monkeypatch.setattr(getpass, "getpass", typed)
    return questions


def choose(home: Home, backend: str) -> None:
    home.prepare()
    home.settings.write_text(json.dumps({"version": 1, "mcpServers": {}, "secrets": {"backend": backend}}))


@pytest.mark.parametrize("words", ASKING, ids=lambda words: " ".join(words[:2]))
def test_no_command_asks_for_a_key_that_cannot_be_kept(
    tooltray: Tooltray, hub_home: Home, asked: list[str], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    def locked() -> str:
        raise SecretsLocked("The keyring is locked")

    candidate = {"id": "1", "name": "git", "state": "new", "sources": [], "asks": [BUNDLE_FIELD]}
    answers = {
        "check_secrets": locked,
        "get_mcp_servers": {"here": {"command": "run"}},
        "get_server_entry": {"name": "here", "entry": {"command": "run"}, "counts": {}},
        "preview_client_import": {"candidates": [candidate]},
        "get_registry_server": {"name": "io.example/o", "version": "1", "options": [OPTION]},
        "get_starter_servers": [{"id": "s", "fields": [BUNDLE_FIELD]}],
        "read_bundle": {"kind": "node", "fields": [BUNDLE_FIELD]},
    }
    with FakeControlHub(hub_home, answers):
        code = run(words, open_desktop=lambda home, **_: 99)
    shown = capsys.readouterr()
    assert (code, asked) == (1, [])
    assert "The keyring is locked" in shown.err + shown.out


def test_a_locked_file_is_opened_first_and_its_passphrase_is_asked_for_once(hub_home: Home, asked: list[str]) -> None:
    choose(hub_home, "file")
    place = SecretPlace(hub_home)
    assert place.ask(["a", "b"]) == {"a": "open sesame", "b": "open sesame"}
    place.run(lambda hub: hub.ask(hub.api.secrets.set_secret(name="a", value="1")))
    assert asked == ["New passphrase for the encrypted file: ", "The same again: ", "a: ", "b: "]


def test_a_passphrase_in_the_environment_is_good_for_the_whole_command(
    hub_home: Home, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(hub_home, "file")
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    place = SecretPlace(hub_home)
    place.ask(["a"])
    place.run(lambda hub: hub.ask(hub.api.secrets.set_secret(name="a", value="1")))
    assert asked == ["a: "]


def test_the_memory_of_no_hub_is_no_place(hub_home: Home, asked: list[str]) -> None:
    choose(hub_home, "memory")
    with pytest.raises(TooltrayError, match="none is running"):
        SecretPlace(hub_home).ask(["a"])
    assert asked == []


def test_a_place_that_cannot_be_used_is_asked_once_for_a_whole_command(hub_home: Home, asked: list[str]) -> None:
    looked: list[str] = []

    def locked() -> str:
        looked.append("once")
        raise SecretsLocked("The keyring is locked")

    with FakeControlHub(hub_home, {"check_secrets": locked}):
        place = SecretPlace(hub_home)
        assert place.ask([]) == {}
        for _ in range(2):
            with pytest.raises(TooltrayError, match="is locked"):
                place.ask(["a"])
    assert (looked, asked) == (["once"], [])
