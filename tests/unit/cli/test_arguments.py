"""What can be typed, and what is refused."""

import argparse
import subprocess
import sys

import pytest
from tests.unit.cli.conftest import BOUND_S

from tooltray.cli.arguments import DESKTOP, Usage, UsageError, command_parser, function_at, parse


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
    def check(parser: Usage) -> None:
        parser.complete()
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for each in action.choices.values():
                    check(each)
        run = parser.get_default("run")
        assert run in (None, DESKTOP) or callable(function_at(run) if isinstance(run, str) else run), parser.prog

    check(command_parser())


def test_a_line_declares_the_arguments_of_its_own_command_alone() -> None:
    words = "import sys; from tooltray.cli.arguments import parse; parse(['tasks', 'list'], {}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", words], capture_output=True, text=True, timeout=BOUND_S, check=True)
    commands = {each for each in done.stdout.split() if each.startswith(("tooltray.cli.commands.", "tooltray.cli.server_commands."))}
    assert commands == {"tooltray.cli.commands.tools_command"}


def test_an_address_that_a_command_is_given_is_the_command_s_own() -> None:
    args = parse(["servers", "logs", "tooltray://servers/files"])
    assert (args.name, args.link) == ("tooltray://servers/files", "")
