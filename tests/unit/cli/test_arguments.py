"""What can be typed, and what is refused."""

import pytest

from tooltray.cli.arguments import DESKTOP, parse
from tooltray.cli.options.parsers import UsageError


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
        ["servers", "logs", "x", "-n", "0"],
        ["servers", "logs", "x", "-n", "many"],
        ["tools", "call", "x", "--timeout", "nan"],
        ["tools", "call", "x", "--timeout", "-1"],
        ["secrets", "backend", "cloud"],
        ["grants", "accept", "x", "y", "--json"],
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
        assert callable(getattr(importlib.import_module(f"tooltray.cli.commands.{module}"), function)), words


def test_an_address_that_a_command_is_given_is_the_command_s_own() -> None:
    args = parse(["servers", "logs", "tooltray://servers/files"])
    assert (args.name, args.link) == ("tooltray://servers/files", "")
