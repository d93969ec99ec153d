"""`tooltray passphrase ...`, and commands that need it, with a running hub and without."""

import getpass
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.confirmation import NeedsPassphrase
from tooltray.foundation.home.home import Home

RIGHT, FOLDER = "correct horse", "/nowhere-at-all"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a person types without echo, one after the other."""
    texts: list[str] = []
    monkeypatch.setattr(getpass, "getpass", lambda prompt: texts.pop(0))
    return texts


def locked(**params: Any) -> str:
    raise NeedsPassphrase("Allowing a folder needs the passphrase", "a person has set one for it")


def test_without_a_hub_it_is_set_asked_for_and_removed(person: Tooltray, tooltray: Tooltray, hub_home: Home, typed: list[str]) -> None:
    assert tooltray("passphrase", "check").out.startswith("No passphrase is set.")
    assert person("passphrase", "remove").out == "No passphrase is set.\n"
    typed[:] = [RIGHT, "another one"]
    assert "The two passphrases differ" in person("passphrase", "set").err
    typed[:] = [RIGHT, RIGHT]
    found = person("passphrase", "set")
    assert (found.code, found.out.splitlines()[0]) == (
        0,
        "Set. Where no window of Tooltray runs, commands that allow something ask for it.",
    )
    typed[:] = [RIGHT]
    assert person("passphrase", "check").out == "This is the passphrase.\n"
    assert tooltray("passphrase", "check", "--json").json["is_set"]
    assert "A passphrase is set: nobody is there" in tooltray("passphrase", "check").err
    assert "needs a person at a terminal" in tooltray("passphrase", "remove").err
    typed[:] = ["a new one", "a new one", RIGHT]
    assert person("passphrase", "set").code == 0
    typed[:] = ["a new one"]
    assert person("passphrase", "remove").out.startswith("Removed.")
    assert not hub_home.passphrase.exists()


def test_a_command_asks_for_it_and_then_does_its_work(person: Tooltray, hub_home: Home, typed: list[str]) -> None:
    answers: dict[str, Any] = {"allow_folder": locked}

    def confirm(passphrase: str) -> None:
        assert passphrase == RIGHT
        answers["allow_folder"] = FOLDER
        hub.answers |= answers

    with FakeControlHub(hub_home, {**answers, "confirm_with_passphrase": confirm}) as hub:
        typed[:] = [RIGHT]
        found = person("projects", "allow", FOLDER)
        assert (found.code, hub.methods()) == (0, ["allow_folder", "confirm_with_passphrase", "allow_folder"])
        assert "Allowing a folder needs the passphrase" in found.err
        assert RIGHT not in found.out + found.err


def test_its_help_says_what_to_do_where_it_is_lost(tooltray: Tooltray, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tooltray("passphrase", "--help")
    assert "remove passphrase.json" in " ".join(capsys.readouterr().out.split())
