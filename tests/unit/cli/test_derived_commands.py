"""derived_commands.py"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.arguments import Usage, UsageError
from tooltray.cli.derived_commands import Fixed, Show, VerbCommands, done, table
from tooltray.cli.hubs import any_hub
from tooltray.foundation.home.home import Home

Run = Callable[..., str]


@pytest.fixture
def group() -> Usage:
    return Usage("tooltray group")


@pytest.fixture
def verbs(group: Usage) -> VerbCommands:
    return VerbCommands(group.subcommands())


@pytest.fixture
def run(group: Usage, hub_home: Home, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command of the group; returns what it prints."""

    def call(*words: str) -> str:
        args = group.parse_args(words)
        assert args.run(args, hub_home) == 0
        return capsys.readouterr().out

    return call


def nothing(args: Any, result: Any) -> int:
    return 0


def test_an_argument_without_a_default_is_positional_and_any_other_an_option(verbs: VerbCommands, run: Run, hub_home: Home) -> None:
    verbs.add("show", "show a server", "get_registry_server", nothing)
    with FakeControlHub(hub_home, {"get_registry_server": {"name": "a/b", "version": "2"}}) as hub:
        run("show", "a/b")
        run("show", "a/b", "--version", "2")
    assert hub.calls == [("get_registry_server", {"name": "a/b", "version": version}) for version in ("", "2")]


def test_an_argument_can_be_explained_renamed_converted_or_fixed(group: Usage, verbs: VerbCommands, run: Run, hub_home: Home) -> None:
    named = {"name": "which", "metavar": "WHICH", "type": str.upper}
    verbs.add("on", "switch it on", "set_skill_enabled", nothing, server="whose it is", skill=named, enabled=Fixed(True))
    with FakeControlHub(hub_home, {"set_skill_enabled": None}) as hub:
        run("on", "s", "x")
    assert hub.calls == [("set_skill_enabled", {"server": "s", "skill": "X", "enabled": True})]
    with pytest.raises(UsageError, match="required: WHICH") as refusal:
        group.parse_args(["on", "s"])
    assert "SERVER WHICH" in refusal.value.usage


@pytest.mark.parametrize(
    ("show", "printed"),
    [
        (done(lambda args, result: f"{args.id} {result}"), "null\n"),
        (done(lambda args, result: f"{args.id} {result}", "id", gone=True, got=lambda args, _: len(args.id)), None),
    ],
    ids=["the result", "what is named"],
)
def test_words_get_cleaned_arguments_and_json_has_them_as_they_are(
    verbs: VerbCommands, run: Run, hub_home: Home, show: Show, printed: str | None
) -> None:
    verbs.add("remove", "remove it", "remove_grant", show)
    with FakeControlHub(hub_home, {"remove_grant": None}):
        assert run("remove", "g\x1b[1m\n1") == "g 1 None\n"
        in_json = '{\n  "id": "g\\u001b[1m\\n1",\n  "gone": true,\n  "got": 7\n}\n'
        assert run("remove", "g\x1b[1m\n1", "--json") == (printed or in_json)


def test_a_list_is_a_table_or_what_is_printed_for_an_empty_one(verbs: VerbCommands, run: Run, hub_home: Home) -> None:
    listed = table(("NAME", "TOOLS"), lambda each: (each.name, str(each.tool_count)), "There are none.")
    verbs.add("list", "list them", "get_profiles", listed)
    with FakeControlHub(hub_home, {"get_profiles": [{"name": "work", "servers": None, "tools": {}, "tool_count": 3}]}) as hub:
        assert run("list") == "NAME  TOOLS\nwork  3\n"
        hub.answers["get_profiles"] = []
        assert run("list") == "There are none.\n"
        assert run("list", "--json") == "[]\n"


def test_a_verb_that_needs_no_hub_is_asked_of_the_files(group: Usage, run: Run) -> None:
    verbs = VerbCommands(group.subcommands(), any_hub)
    verbs.add("tokens", "list tokens", "list_client_tokens", table(("NAME",), lambda each: [each.name], "There are none."))
    assert run("tokens") == "There are none.\n"


def test_without_a_verb_all_are_listed_with_what_they_take(tooltray: Tooltray, hub_home: Home) -> None:
    lines = [line.split() for line in tooltray("api").out.splitlines()]
    assert lines[0] == ["VERB", "ARGUMENTS", "DESCRIPTION"]
    assert ["get_tool_use", "[days]"] in [words[:2] for words in lines]


def test_a_verb_is_called_with_values_of_its_types_and_its_result_is_printed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"call_tool": {"content": []}}) as hub:
        result = tooltray("api", "call_tool", "name=7", 'arguments={"a": [1]}', "project=/p")
    assert result.json == {"content": []}
    assert [call for call in hub.calls if call[0] == "call_tool"] == [
        ("call_tool", {"name": "7", "arguments": {"a": [1]}, "project": "/p"})
    ]


def test_what_is_no_json_is_a_text(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"set_result_limit": None}) as hub:
        assert tooltray("api", "set_result_limit", "tokens=none", "server=s").out == "null\n"
    assert ("set_result_limit", {"tokens": "none", "server": "s"}) in hub.calls


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["get_nothing"], "Verb 'get_nothing' not found"),
        (["start_server"], "missing: name"),
        (["start_server", "files"], "It takes: name"),
        (["start_server", "server=files"], "It takes: name"),
        (["initialize", "a=1"], "It takes: nothing"),
    ],
)
def test_a_line_that_cannot_be_carried_out_names_what_can(tooltray: Tooltray, hub_home: Home, words: list[str], said: str) -> None:
    with FakeControlHub(hub_home, {}) as hub:
        result = tooltray("api", *words)
    assert (result.code, said in result.err) == (1, True)
    assert not hub.calls
