"""`tooltray secrets ...`, with a running hub and without."""

import getpass
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.fakes.terminal import Terminal
from tests.unit.cli.conftest import Tooltray

from tooltray.cli import person
from tooltray.cli.commands.secrets_command import SecretPlace, chosen_backend
from tooltray.cli.run import run
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

PASSPHRASE = "open sesame"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What the person types where nothing is echoed; the questions are removed from it."""
    typed: list[str] = []
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("tooltray.cli.hubs.is_at_terminal", lambda: True)
    monkeypatch.setattr(getpass, "getpass", lambda question: typed.pop(0))
    return typed


@pytest.fixture
def file_backend(hub_home: Home) -> None:
    """Chosen in the settings by hand, so that there is no passphrase yet."""
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "mcpServers": {}, "secrets": {"backend": "file"}}))


def end_of_input(question: str) -> str:
    raise EOFError


def at_terminal(*words: str) -> int:
    return run(words, open_desktop=lambda home, **_: 99)


# through a hub


def test_a_hub_stores_lists_and_removes(tooltray: Tooltray, hub_home: Home) -> None:
    secrets = [
        {"name": "a", "is_stored": True, "used_by": ["git", "wiki"]},
        {"name": "b\x1b[1m", "is_stored": False, "used_by": ["git"]},
        {"name": "c", "is_stored": None, "perhaps_used_by": ["/p/.mcp.json"]},
        {"name": "oauth/far", "is_stored": True, "used_by": ["far"], "kind": "sign-in"},
        {"name": "own", "is_stored": True, "kind": "own"},
        {"name": "pass:k", "is_stored": None, "used_by": ["git"], "kind": "provided", "origin": "pass, k"},
        {"name": "pass:l", "is_stored": None, "kind": "provided", "problem": {"title": "pass is not installed", "hint": "Install it"}},
    ]
    listed = {"backend": "memory", "is_proven": True, "secrets": secrets}
    answers = {"set_secret": None, "get_secret_names": [], "get_secrets": listed, "remove_secret": None}
    with FakeControlHub(hub_home, answers) as hub:
        stored = tooltray("secrets", "set", "git/KEY", stdin="line 1\nline 2\n")
        assert stored.out.startswith("Stored. Refer to it in settings as ${secret:git/KEY}")
        assert tooltray("secrets", "list").out.splitlines() == [
            "Secrets are kept in memory, until Tooltray ends.",
            "NAME       STORED                             USED BY",
            "a          yes                                git, wiki",
            "b          MISSING                            git",
            "c          ?                                  - (perhaps /p/.mcp.json)",
            "oauth/far  yes                                the sign-in to far",
            "own        yes                                Tooltray itself",
            "pass:k     from pass, k                       git",
            "pass:l     pass is not installed. Install it  -",
        ]
        assert tooltray("secrets", "remove", "git/KEY").out == "Deleted git/KEY.\n"
    assert hub.params_of("set_secret") == {"name": "git/KEY", "value": "line 1\nline 2"}
    assert hub.params_of("remove_secret") == {"name": "git/KEY"}


def test_every_answer_exists_in_json_and_none_holds_a_value(tooltray: Tooltray, hub_home: Home) -> None:
    verbs = {"set_secret": None, "get_secret_names": ["a"], "remove_secret": None, "unlock_secrets": None, "set_secret_backend": None}
    with FakeControlHub(hub_home, verbs):
        results = [
            tooltray("secrets", "set", "a", "--json", stdin="sk-1"),
            tooltray("secrets", "list", "--json"),
            tooltray("secrets", "remove", "a", "--json"),
            tooltray("secrets", "unlock", "--json", stdin="p\n"),
            tooltray("secrets", "backend", "memory", "--json"),
        ]
    assert [result.json for result in results] == [
        {"secret": "a", "stored": True},
        ["a"],
        {"secret": "a", "removed": True},
        {"unlocked": True},
        {"backend": "memory"},
    ]
    assert not any("sk-1" in result.out + result.err for result in results)


def test_the_passphrase_goes_to_the_running_hub(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"unlock_secrets": None}) as hub:
        assert tooltray("secrets", "unlock", stdin=f"{PASSPHRASE}\n").out == "Unlocked until Tooltray ends.\n"
    assert hub.params_of("unlock_secrets") == {"passphrase": PASSPHRASE}


@pytest.mark.parametrize(("kind", "place"), [("memory", "memory, until Tooltray ends"), ("keyring", "the system's keyring")])
def test_a_place_without_a_passphrase_is_not_unlocked(tooltray: Tooltray, hub_home: Home, kind: str, place: str) -> None:
    with FakeControlHub(hub_home, {"unlock_secrets": None}) as hub:
        hub_home.settings.write_text(json.dumps({"secrets": {"backend": kind}}))
        result = tooltray("secrets", "unlock", stdin=f"{PASSPHRASE}\n")
    assert (result.code, place in result.err, "backend file" in result.err) == (1, True, True)
    assert "unlock_secrets" not in hub.methods()


def test_what_a_hub_refuses_is_told(tooltray: Tooltray, hub_home: Home) -> None:
    def locked(**params: Any) -> None:
        raise TooltrayError("The secrets are locked", "", "tooltray secrets unlock")

    with FakeControlHub(hub_home, {"set_secret": locked}):
        result = tooltray("secrets", "set", "a", stdin="v")
    assert (result.code, result.err) == (1, "tooltray: The secrets are locked: tooltray secrets unlock\n")


# without a hub


def test_without_a_hub_there_is_nothing_to_unlock(tooltray: Tooltray) -> None:
    result = tooltray("secrets", "unlock", stdin="p\n")
    assert result.code == 1
    assert "Tooltray is not running" in result.err


def test_an_empty_value_is_refused(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home):
        result = tooltray("secrets", "set", "a", stdin="\n")
    assert result.code == 1
    assert "Standard input is empty" in result.err


def test_the_chosen_backend_is_shown(tooltray: Tooltray, hub_home: Home) -> None:
    assert "the system's keyring" in tooltray("secrets", "backend").out
    assert tooltray("secrets", "backend", "--json").json == {"backend": None}
    assert tooltray("secrets", "backend", "file", stdin=f"{PASSPHRASE}\n").out == "Secrets are kept in an encrypted file.\n"
    assert tooltray("secrets", "backend").out == "Secrets are kept in an encrypted file.\n"


def test_who_chooses_the_encrypted_file_gives_its_passphrase_twice(answers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    answers += [PASSPHRASE, PASSPHRASE]
    assert at_terminal("secrets", "backend", "file") == 0
    assert answers == []
    answers += [PASSPHRASE, "the value"]  # once from now on
    assert at_terminal("secrets", "set", "git/KEY") == 0
    assert answers == []


def test_who_chooses_a_file_that_is_there_opens_it(answers: list[str], hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    answers += [PASSPHRASE, PASSPHRASE]
    assert at_terminal("secrets", "backend", "file") == 0
    assert at_terminal("secrets", "backend", "memory") == 0
    answers.append("wrong")
    assert at_terminal("secrets", "backend", "file") == 1
    assert "passphrase is wrong" in capsys.readouterr().err
    assert chosen_backend(hub_home) == "memory"
    answers.append(PASSPHRASE)
    assert at_terminal("secrets", "backend", "file") == 0
    assert (chosen_backend(hub_home), answers) == ("file", [])


def test_a_wrong_passphrase_for_a_file_leaves_the_keyring_where_nothing_else_was_chosen(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("secrets", "backend", "file", stdin=f"{PASSPHRASE}\n").code == 0
    hub_home.settings.write_text("{}")
    assert tooltray("secrets", "backend", "file", stdin="wrong\n").code == 1
    assert chosen_backend(hub_home) == "keyring"


@pytest.mark.parametrize("typed", ["", "\n"])
def test_without_a_passphrase_the_encrypted_file_is_not_chosen(tooltray: Tooltray, hub_home: Home, typed: str) -> None:
    result = tooltray("secrets", "backend", "file", stdin=typed)
    assert (result.code, chosen_backend(hub_home)) == (1, None)
    assert "No passphrase for the encrypted file" in result.err


def test_two_passphrases_that_differ_choose_nothing(answers: list[str], hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    answers += [PASSPHRASE, "open sesam"]
    assert at_terminal("secrets", "backend", "file") == 1
    assert "differ" in capsys.readouterr().err
    assert chosen_backend(hub_home) is None


def test_a_running_hub_goes_on_with_the_encrypted_file_and_opens_it(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"set_secret_backend": None, "unlock_secrets": None}) as hub:
        assert tooltray("secrets", "backend", "file", stdin=f"{PASSPHRASE}\n").code == 0
    assert hub.params_of("set_secret_backend") == {"kind": "file"}
    assert hub.params_of("unlock_secrets") == {"passphrase": PASSPHRASE}


def test_the_passphrase_in_the_environment_is_taken_without_asking(
    tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", PASSPHRASE)
    assert tooltray("secrets", "backend", "file").code == 0
    assert hub_home.secrets_file.exists()


@pytest.mark.parametrize("content", ["no json", "[]", '{"secrets": {"backend": 5}}', '{"secrets": 5}', "[" * 200_000])
def test_settings_that_say_nothing_of_a_backend_choose_none(tooltray: Tooltray, hub_home: Home, content: str) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(content)
    assert tooltray("secrets", "backend", "--json").json == {"backend": None}


def test_memory_cannot_keep_a_secret_without_a_hub(tooltray: Tooltray) -> None:
    tooltray("secrets", "backend", "memory")
    result = tooltray("secrets", "set", "a", stdin="v")
    assert result.code == 1
    assert "Secrets are kept in Tooltray's memory, and it is not running" in result.err


def test_a_missing_keyring_is_told_with_what_to_do(tooltray: Tooltray) -> None:
    result = tooltray("secrets", "set", "a", "--json", stdin="v")
    assert result.code == 1
    assert "keyring" in result.error["title"]
    assert result.error["hint"]


@pytest.mark.usefixtures("file_backend")
def test_the_encrypted_file_asks_for_its_passphrase_and_keeps_what_was_stored(
    answers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    answers += [PASSPHRASE, PASSPHRASE, "the value"]
    assert at_terminal("secrets", "set", "git/KEY") == 0
    assert answers == []
    capsys.readouterr()
    answers.append(PASSPHRASE)
    assert at_terminal("secrets", "list") == 0
    assert capsys.readouterr().out.splitlines()[2].split() == ["git/KEY", "yes", "-"]
    answers.append(PASSPHRASE)
    assert at_terminal("secrets", "remove", "git/KEY") == 0


@pytest.mark.usefixtures("file_backend")
def test_a_slip_in_a_new_passphrase_stores_nothing(answers: list[str], hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    answers += [PASSPHRASE, "open sesam"]
    assert at_terminal("secrets", "set", "a") == 1
    assert "differ" in capsys.readouterr().err
    assert not hub_home.secrets_file.exists()


@pytest.mark.usefixtures("file_backend")
def test_a_wrong_passphrase_opens_nothing(answers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    answers += [PASSPHRASE, PASSPHRASE, "v", "wrong"]
    assert at_terminal("secrets", "set", "a") == 0
    assert at_terminal("secrets", "list") == 1
    assert "passphrase is wrong" in capsys.readouterr().err


@pytest.mark.usefixtures("file_backend")
def test_where_nobody_can_be_asked_a_locked_file_is_an_error(tooltray: Tooltray) -> None:
    result = tooltray("secrets", "set", "a", stdin="v")
    assert result.code == 1
    assert "locked" in result.err


def test_a_locked_keyring_asks_for_no_passphrase(answers: list[str], hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert at_terminal("secrets", "set", "a") == 1  # and for no value, which could be kept nowhere
    assert "keyring" in capsys.readouterr().err


def test_a_person_at_a_terminal_is_asked_once_for_each_secret(answers: list[str]) -> None:
    answers += ["1", "2"]
    assert person.ask_for_secrets(["x/A", "x/B"]) == {"x/A": "1", "x/B": "2"}
    answers.append("")
    with pytest.raises(TooltrayError, match="left empty"):
        person.ask_for_secrets(["x/A"])


def test_what_was_left_empty_is_typed_again_and_not_given_in_lines(
    answers: list[str], hub_home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    answers.append("")
    with FakeControlHub(hub_home):
        assert at_terminal("secrets", "set", "a") == 1
    said = "No value for the secret a. It was left empty. Run the command again; what you type is not shown"
    assert capsys.readouterr().err == f"tooltray: {said}\n"


@pytest.mark.usefixtures("answers")
def test_who_ends_the_input_in_place_of_a_secret_is_told_in_one_sentence(
    hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(getpass, "getpass", end_of_input)
    with FakeControlHub(hub_home):
        assert at_terminal("secrets", "set", "git/KEY") == 1
    assert capsys.readouterr().err == "\ntooltray: No value for the secret git/KEY was entered\n"


@pytest.mark.usefixtures("answers")
def test_who_ends_the_input_in_place_of_a_passphrase_is_told_in_one_sentence(
    hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(getpass, "getpass", end_of_input)
    with FakeControlHub(hub_home, {"unlock_secrets": None}) as hub:
        assert at_terminal("secrets", "unlock") == 1
    assert capsys.readouterr().err == "\ntooltray: No passphrase was entered\n"
    assert "unlock_secrets" not in hub.methods()


def test_lines_are_read_although_a_person_is_there_where_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("from a line\n"))
    assert person.ask_for_secrets(["x/A"], from_stdin=True) == {"x/A": "from a line"}


def test_no_standard_input_at_all_is_an_error_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(TooltrayError, match="no line"):
        person.ask_for_secrets(["x/A"])
    with pytest.raises(TooltrayError, match="empty"):
        person.ask_for_secret("a")
    assert person.ask_for_passphrase(is_new=True) == ""


def test_no_secrets_yet_says_what_to_do_next(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_secret_names": [], "get_secrets": {"backend": "keyring"}}):
        assert "tooltray secrets set NAME" in tooltray("secrets", "list").out


# what nobody uses


def test_what_no_server_uses_is_shown_and_forgotten_after_a_yes(
    hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal())
    asked: list[str] = []
    answers = ["n", "y"]
    monkeypatch.setattr("builtins.input", lambda question: (asked.append(question), answers.pop(0))[1])
    verbs = {"get_unused_secrets": ["a\x1b[1m", "b"], "remove_unused_secrets": ["b"]}
    with FakeControlHub(hub_home, verbs) as hub:
        assert at_terminal("secrets", "remove", "--unused") == 0
        assert "remove_unused_secrets" not in hub.methods()
        assert at_terminal("secrets", "remove", "--unused") == 0
    shown = ["Not used by any known server:", "  a", "  b"]
    assert capsys.readouterr().out.splitlines() == [*shown, "Nothing was changed.", *shown, "Deleted 1 secret."]
    assert asked == ["Delete all 2? [y/N] "] * 2
    assert hub.params_of("remove_unused_secrets") == {"names": ["a\x1b[1m", "b"]}


def test_what_no_server_uses_goes_in_json_too_but_never_without_a_yes(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_unused_secrets": ["a"], "remove_unused_secrets": ["a"]}) as hub:
        refused = tooltray("secrets", "remove", "--unused")
        assert refused.code == 1
        assert "'Delete it?' needs an answer in a terminal" in refused.err
        assert "remove_unused_secrets" not in hub.methods()
        assert tooltray("secrets", "remove", "--unused", "--yes", "--json").json == {"removed": ["a"]}


@pytest.mark.parametrize("words", [(), ("a", "--unused"), ("a", "--yes")])
def test_a_secret_is_removed_by_name_or_all_that_are_unused(tooltray: Tooltray, words: tuple[str, ...]) -> None:
    assert tooltray("secrets", "remove", *words).code == 2


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
    assert asked == ["New passphrase for the encrypted file: ", "Repeat it: ", "a: ", "b: "]


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
    with pytest.raises(TooltrayError, match="Secrets are kept in Tooltray's memory, and it is not running"):
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
