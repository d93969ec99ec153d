"""What can be typed, and what is refused."""

import pytest

from tooltray.cli import arguments
from tooltray.cli.arguments import DESKTOP, UsageError, parse


def test_no_command_means_the_desktop() -> None:
    args = parse([], {})
    assert (args.run, args.home, args.json) == (DESKTOP, None, False)


@pytest.mark.parametrize("words", [["--home", "/h", "status"], ["status", "--home", "/h"]])
def test_the_home_may_stand_before_or_after_the_command(words: list[str]) -> None:
    assert parse(words, {}).home == "/h"


def test_what_follows_the_first_double_dash_is_the_servers_and_untouched() -> None:
    words = ["servers", "add", "files", "--on-demand", "--", "npx", "-y", "--json", "pkg", "--", "--home", "x"]
    args = parse(words, {})
    assert args.command_line == ["npx", "-y", "--json", "pkg", "--", "--home", "x"]
    assert (args.name, args.on_demand, args.json, args.home) == ("files", True, False, None)


def test_a_double_dash_of_a_tool_call_stays_with_the_call() -> None:
    args = parse(["tools", "call", "echo", "--", "text=-v"], {})
    assert args.arguments == ["text=-v"]


def test_a_server_called_add_is_no_command() -> None:
    assert parse(["servers", "remove", "add"], {}).name == "add"


@pytest.mark.parametrize(
    "words",
    [
        ["fly"],
        ["servers"],
        ["tools", "names"],
        ["servers", "add", "files"],
        ["servers", "add", "files", "npx", "pkg"],
        ["servers", "add", "files", "--env", "novalue", "--", "x"],
        ["servers", "add", "files", "--secret", "KEY=sk-123", "--", "x"],
        ["servers", "logs", "x", "-n", "0"],
        ["servers", "logs", "x", "-n", "many"],
        ["tools", "call", "x", "--timeout", "nan"],
        ["tools", "call", "x", "--timeout", "-1"],
        ["secrets", "backend", "cloud"],
        ["serve", "--server", "x"],
        ["serve", "--stdio", "--started-by-bridge"],
        ["serve", "--started-by-bridge", "--config", "x"],
        ["serve", "--started-by-bridge", "--project", "x"],
        ["serve", "--config"],
        ["serve", "--execution-id", "two words"],
        ["serve", "--execution-id", "x" * 65],
        ["serve", "--json"],
        ["grants", "accept", "x", "y", "--json"],
        ["servers", "add", "x", "--deferred", "--template", "'", "--", "y"],
        ["servers", "add", "x", "--template", "{project_path}", "--", "y"],
        ["servers", "lazy", "x", "maybe"],
        ["clients", "mode", "x", "some"],
        ["clients", "mode", "x", "--profile", "p", "--no-profile"],
        ["profiles", "set", "x", "--tool", "server"],
        ["projects", "start", "x"],
        ["projects", "start", "x", "dir", "--anyway"],
        ["feedback", "history", "-n", "0"],
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(words, {})
    assert refusal.value.usage.startswith("usage: tooltray")


def test_a_secrets_value_typed_by_mistake_is_not_repeated() -> None:
    with pytest.raises(UsageError) as refusal:
        parse(["servers", "add", "files", "--secret", "KEY=sk-123", "--", "x"], {})
    assert "sk-123" not in str(refusal.value)


def test_a_missing_number_is_named_in_words() -> None:
    with pytest.raises(UsageError, match="invalid number of seconds value: 'soon'"):
        parse(["tools", "call", "x", "--timeout", "soon"], {})


def test_an_idle_time_that_is_no_number_is_named_in_words() -> None:
    with pytest.raises(UsageError, match="invalid number of seconds above 0 value: 'abc'"):
        parse(["servers", "add", "a", "--on-demand", "--idle-stop", "abc", "--", "x"], {})


def test_the_execution_id_is_the_option_then_the_variable_then_made() -> None:
    environ = {"TOOLTRAY_EXECUTION_ID": "from.the-environment_1"}
    assert parse(["serve", "--execution-id", "mine"], environ).execution_id == "mine"
    assert parse(["serve"], environ).execution_id == "from.the-environment_1"
    made = {parse(["serve"], {}).execution_id for _ in range(2)}
    assert len(made) == 2
    assert all(arguments.EXECUTION_ID.fullmatch(each) for each in made)


def test_a_bad_execution_id_in_the_environment_is_told_by_its_name() -> None:
    with pytest.raises(UsageError, match="TOOLTRAY_EXECUTION_ID"):
        parse(["serve"], {"TOOLTRAY_EXECUTION_ID": "a b"})


def test_a_hub_that_a_bridge_started_leaves_when_idle_and_one_that_a_person_started_stays() -> None:
    assert parse(["serve", "--started-by-bridge"], {}).idle_exit == 900
    assert parse(["serve", "--started-by-bridge", "--idle-exit", "2.5"], {}).idle_exit == 2.5
    assert parse(["serve"], {}).idle_exit is None
    assert parse(["serve", "--idle-exit", "0"], {}).idle_exit == 0


def test_a_hub_may_be_given_several_configs_and_one_project() -> None:
    args = parse(["serve", "--config", "a.json", "--config", "b.json", "--project", "shop"], {})
    assert (args.config, args.project) == (["a.json", "b.json"], "shop")
    assert (parse(["serve"], {}).config, parse(["serve"], {}).project) == ([], None)


def test_variables_keep_what_follows_the_first_equals_sign() -> None:
    args = parse(["servers", "add", "x", "--env", "A=b=c", "--env", "B=", "--secret", "K", "--", "run"], {})
    assert args.env == [("A", "b=c"), ("B", "")]
    assert args.secret == ["K"]


def test_every_command_names_a_function_that_exists() -> None:
    import importlib

    lines = [
        ["serve"],
        ["status"],
        ["stop"],
        ["doctor"],
        *(["servers", name, "x"] for name in ("remove", "start", "stop", "restart", "logs")),
        ["servers", "list"],
        ["servers", "add", "x", "--", "y"],
        ["tools", "list"],
        ["tools", "call", "x"],
        ["tools", "names", "reset"],
        ["secrets", "set", "x"],
        ["secrets", "list"],
        ["secrets", "remove", "x"],
        ["secrets", "unlock"],
        ["secrets", "backend"],
        ["sessions"],
        ["approve"],
        ["servers", "lazy", "x", "on"],
        ["tools", "cost"],
        ["tools", "override", "x", "y"],
        ["clients", "modes"],
        ["clients", "mode", "x", "lazy"],
        ["profiles", "list"],
        *(["profiles", name, "x"] for name in ("set", "remove")),
        *(["projects", name] for name in ("list", "reset")),
        *(["projects", name, "x"] for name in ("allow", "disallow")),
        ["projects", "start", "x", "y"],
        *(["feedback", name] for name in ("list", "history")),
        *(["feedback", name, "x"] for name in ("show", "answer", "dismiss")),
        *(["grants", name] for name in ("list", "changes")),
        *(["grants", name, "x"] for name in ("remove", "preview")),
        ["grants", "accept", "x", "y"],
    ]
    for words in lines:
        module, _, function = parse(words, {}).run.partition(":")
        assert callable(getattr(importlib.import_module(f"tooltray.cli.{module}"), function)), words
