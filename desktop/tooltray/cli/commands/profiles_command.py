"""`tooltray profiles list|set|remove`: named sets of servers and tools."""

import argparse
from collections.abc import Iterable

from tooltray.cli.derived_commands import VerbCommands, table
from tooltray.cli.effects import check_effect, warn_of_missing
from tooltray.cli.hubs import started_hub
from tooltray.cli.parsers import Usage, command
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, count, print_note
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.clients import ProfileSnapshot

EVERY = "*"
"""Means all servers if typed instead of a server's name."""


def declare(parser: Usage) -> None:
    profiles = parser.subcommands()
    titles = (tr("PROFILE"), tr("TOOLS"), tr("SERVERS"), tr("DESCRIPTION"))
    listed = table(titles, _row, tr("There are no profiles. Make one with: tooltray profiles set NAME --server SERVER"))
    VerbCommands(profiles).add("list", tr("list the profiles"), "get_profiles", listed)
    setting = command(profiles, "set", tr("make a profile, or another one in its place"), set_profile).takes("name")
    text = tr("a server that is in it; '*', or no --server and no --tool: all are")
    setting.repeats("--server", "SERVER", text)
    text = tr("a tool that is in it, by the server's own name for it, and its server with it; of a server of which none is given, all are")
    setting.repeats("--tool", ("SERVER", "TOOL"), text, nargs=2)
    setting.repeats("--skill", ("SERVER", "SKILL"), tr("the same of a skill, by its name, or by its URI as its server has it"), nargs=2)
    setting.takes("--description", "TEXT", default="")
    command(profiles, "remove", tr("remove a profile"), remove).takes("name")


def set_profile(args: argparse.Namespace, home: Home) -> int:
    """Adds a profile, or replaces it as a whole."""
    tools, skills = _by_server(args.tool), _by_server(args.skill)
    named = list(dict.fromkeys((*args.server, *tools, *skills)))  # a named tool includes its server, and no other server
    servers = None if EVERY in named else named
    profile = {"servers": servers, "tools": tools, "skills": skills, "description": args.description}
    with started_hub(home) as hub:
        hub.ask(hub.api.views.set_profile(name=args.name, profile={key: value for key, value in profile.items() if value}))
        warn_of_missing(hub, servers or tools, tools)
        made = next((each for each in hub.ask(hub.api.views.get_profiles()) if each.name == args.name), None)
        check_effect(hub, tr("The profile {name}", name=clean_line(args.name)), counts=made is not None)
    assert made is not None
    names = tr("all servers") if made.servers is None else ", ".join(map(clean_line, made.servers)) + tr(" and Tooltray itself")
    text = tr(
        "The profile {name} has {count} now, of {names}.", name=clean_line(args.name), count=count(made.tool_count, "tool"), names=names
    )
    answer(args, made, text)
    if not args.json:
        line = tr(
            "An AI client gets it with `tooltray-bridge --profile NAME`, or by: tooltray clients mode CLIENT --profile {name}",
            name=args.name,
        )
        print_note(line)
    return 0


def _by_server(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for server, name in pairs:
        found.setdefault(server, []).append(name)
    return found


def remove(args: argparse.Namespace, home: Home) -> int:
    """Removes a profile that no kind of client has by its settings; sessions that requested it themselves see nothing from then on."""
    with started_hub(home) as hub:
        hub.ask(hub.api.views.remove_profile(name=args.name))
        users = [each for each in hub.ask(hub.api.views.get_sessions()) if each.profile == args.name and each.is_connected]
    removed = {"profile": args.name, "removed": True, "sessions": [each.id for each in users]}
    answer(args, removed, tr("The profile {name} is removed.", name=clean_line(args.name)))
    if users and not args.json:
        who = ", ".join(f"{each.client or '?'} ({each.id})" for each in users)
        text = tr(
            "Careful: these sessions asked for it and see no tools now: {who}. They do again once there is a profile of this name.", who=who
        )
        print_note(text)
    return 0


def _row(profile: ProfileSnapshot) -> list[str]:
    servers = tr("all") if profile.servers is None else ", ".join(profile.servers) or tr("none")
    parts = [tr("{number} of {server}", number=len(tools), server=server) for server, tools in profile.tools.items()]
    only = tr(" (only {parts})", parts=", ".join(parts)) if parts else ""
    return [profile.name, str(profile.tool_count), servers + only, profile.description]
