"""The commands for how tools are shown to AI clients: `sessions`, `profiles`, `clients mode`, `servers lazy`, `tools override`, `limit` and
`csv`.

Changed settings are checked for their effect: others may override them, and they may name servers or tools that do not exist. No server is
started for that: for one that was never listed, no tool is reported as missing.
"""

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from tooltray.cli.arguments import Usage, command
from tooltray.cli.derived_commands import VerbCommands, table
from tooltray.cli.hubs import Hub, started_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, count, print_json, print_note, print_table
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.verbs import JsonObject

EVERY = "*"
"""Means all clients or servers if typed instead of a name."""
DEFAULT = "default"
OVERRULED = Phrase("It has no effect while another mode is chosen for all AI clients. To reset that: tooltray clients mode '*' default")
_LAZY = {"on": True, "off": False, DEFAULT: None}


def sessions(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        found = hub.ask(hub.api.views.get_sessions())
        has_profile = any(each.profile for each in found)
        profiles = {each.name for each in hub.ask(hub.api.views.get_profiles())} if has_profile else set()
    if args.json:
        print_json(found)
        return 0
    if rows := [_session_row(each, profiles) for each in found if each.is_connected]:
        print_table((tr("SESSION"), tr("CLIENT"), tr("SHOWN"), tr("PROFILE"), tr("PROJECT"), tr("ACTIVATED"), tr("WHY")), rows)
    else:
        print(tr("No AI client is connected."))
    if left := Counter(each.client or "?" for each in found if not each.is_connected):
        who = ", ".join(f"{name} ({number})" if number > 1 else name for name, number in left.items())
        print_note(tr("Disconnected in the last minutes; their state returns if they reconnect: {who}.", who=who))
    return 0


def mode(args: argparse.Namespace, home: Home) -> int:
    """Changes how tools are shown to one kind of client, and its profile; options that are not given stay unchanged."""
    client = "" if args.client == EVERY else args.client
    profile = "" if args.no_profile else args.profile
    if args.mode is None and profile is None:
        raise TooltrayError(tr("Nothing to choose"), hint=tr("Give a MODE, --profile NAME or --no-profile"))
    if profile is not None and not client:
        raise TooltrayError(tr("A profile is given to one AI client"), hint=tr("Name it as `tooltray clients modes` does"))
    with started_hub(home) as hub:
        views = hub.api.views
        known = [each.client for each in hub.ask(views.get_client_modes())]
        if profile is not None:
            hub.ask(views.set_client_profile(client=client, profile=profile))
        if args.mode is not None:
            hub.ask(views.set_client_mode(client=client, mode="" if args.mode == DEFAULT else args.mode))
        now = next((each for each in hub.ask(views.get_client_modes()) if each.client == client), None)
        is_effective = not now or (args.mode in (None, DEFAULT, now.mode) and profile in (None, "", now.profile))
        check_effect(hub, tr("What was chosen"), counts=is_effective)
    answer(args, now or {"client": args.client, "mode": args.mode}, _mode_words(client, now, args.mode, profile))
    if now and client not in known:  # a kind known by several names has no mode of its own
        text = tr(
            "No AI client named {client} has connected yet. Known clients: {value}.",
            client=client,
            value=", ".join(filter(None, known)),
        )
        print_note(text)
    return 0


def _mode_words(client: str, now: ClientModeSnapshot | None, mode: str | None, profile: str | None) -> str:
    if now:
        text = tr(
            "{title} sees: {shown_mode} ({reason}), profile: {value}.",
            title=now.title,
            shown_mode=now.shown_mode,
            reason=now.reason,
            value=now.profile or tr("none"),
        )
        return clean_line(text)
    if mode in (None, DEFAULT) and not profile:  # only these settings made the client known, so it is not listed any more
        return tr("{client} uses the default of all AI clients again.", client=clean_line(client))
    return tr("Chosen for {client}.", client=clean_line(client) or tr("all AI clients without a mode of their own"))


def lazy(args: argparse.Namespace, home: Home) -> int:
    server = None if args.name == EVERY else args.name
    with started_hub(home) as hub:
        hub.ask(hub.api.views.set_lazy_load(enabled=_LAZY[args.switch], server=server))
        servers = [each for each in hub.ask(hub.api.hub.get_snapshot()).servers if server in (None, each.name)]
        check_effect(hub, tr("What was chosen"), counts=server is None or bool(servers))
    default = tr("shows all its tools") if server is None else tr("uses the default of all servers")
    words = {"on": tr("shows one small tool; using it loads the rest"), "off": tr("shows all its tools"), DEFAULT: default}
    whose = tr("Every server without its own setting") if server is None else clean_line(server)
    answer(args, {"server": server, "lazy": _LAZY[args.switch]}, f"{whose} {words[args.switch]}.")
    if args.switch == "on" and servers and not any(each.is_lazy for each in servers) and not args.json:
        print_note(OVERRULED)
    return 0


def override(args: argparse.Namespace, home: Home) -> int:
    """Shows a tool under another name or description; options that are not given stay unchanged."""
    given = given_override(args)
    if not args.clear and not given:
        raise TooltrayError(tr("Nothing to change"), hint=tr("Give --name, --description, --title, --hint, --icon or --clear"))
    with started_hub(home) as hub:
        entry = hub.ask(hub.api.servers.get_server_entry(name=args.server)).counts
        override = merged_overrides({} if args.clear else override_before(entry, args.tool), given)
        name, description = override.get("name"), override.get("description")
        words = {"name": name, "description": description, **override}
        hub.ask(hub.api.views.set_tool_override(server=args.server, tool=args.tool, **words))
        if override:
            warn_of_missing(hub, (), {args.server: [args.tool]})
        shown = tools_of(hub, args.server).get(args.tool)
    published = shown.name if shown else None
    done = {"server": args.server, "tool": args.tool, **words, "published_name": published}
    got = clean_line(published or name or "")
    answer(args, done, override_words(clean_line(tr("{tool} of {server}", tool=args.tool, server=args.server)), override, got))
    if name and got != name and not args.json:
        text = tr(
            "Another tool has the name {name} or one too similar, so sessions with all servers see {got}.",
            name=name,
            got=got,
        )
        print_note(text)
    return 0


def limit(args: argparse.Namespace, home: Home) -> int:
    """Limits how many tokens of a result clients get at once."""
    chosen = {"tokens": args.tokens, **_whose(args)}
    with started_hub(home) as hub:
        hub.ask(hub.api.views.set_result_limit(**chosen))
        if args.tool and args.tokens is not None:
            warn_of_missing(hub, (), {args.server: [args.tool]})
    most = "" if args.tokens is None else f"{args.tokens:,}"
    said = tr("{whose}: at most {tokens} tokens of a result at once.", whose=_whose_words(args), tokens=most)
    answer(args, chosen, said if most else tr("{whose}: no limit for results of its own.", whose=_whose_words(args)))
    return 0


def csv(args: argparse.Namespace, home: Home) -> int:
    """Chooses whether clients get tables in results as CSV."""
    whose, enabled = _whose(args), _LAZY[args.switch]
    with started_hub(home) as hub:
        hub.ask(hub.api.views.set_csv_tables(enabled=enabled, **whose))
        if args.tool and args.switch != "default":
            warn_of_missing(hub, (), {args.server: [args.tool]})
    words = {"on": tr("as CSV"), "off": tr("as JSON"), "default": tr("by the other settings")}
    answer(args, {"enabled": enabled, **whose}, tr("{whose}: tables in results {how}.", whose=_whose_words(args), how=words[args.switch]))
    return 0


def _whose(args: argparse.Namespace) -> dict[str, str | None]:
    return {"server": args.server, "tool": args.tool, "client": args.client}


def _whose_words(args: argparse.Namespace) -> str:
    return clean_line(tr("{tool} of {server}", tool=args.tool, server=args.server) if args.tool else args.server or args.client)


def _session_row(session: SessionSnapshot, profiles: Collection[str]) -> list[str]:
    client = f"{session.client or '?'} {session.version}".strip()
    mode = session.mode if session.profile in ("", *profiles) else tr("nothing")
    project = session.project.path if session.project else "-"
    only = f" ({session.server} only)" if session.server else ""
    return [session.id, client, mode + only, session.profile or "-", project, ", ".join(session.activated) or "-", session.reason]


"""Means all servers if typed instead of a server's name."""


def declare_profiles(parser: Usage) -> None:
    profiles = parser.subcommands()
    titles = (tr("PROFILE"), tr("TOOLS"), tr("SERVERS"), tr("DESCRIPTION"))
    listed = table(titles, _profile_row, tr("No profiles yet. Create one: tooltray profiles set NAME --server SERVER"))
    VerbCommands(profiles).add("list", tr("list the profiles"), "get_profiles", listed)
    setting = command(profiles, "set", tr("create or replace a profile"), set_profile).takes("name")
    text = tr("a server to include; '*', or neither --server nor --tool: all servers")
    setting.repeats("--server", "SERVER", text)
    text = tr("a tool to include, by its own name, with its server; a server given without tools has all its tools")
    setting.repeats("--tool", ("SERVER", "TOOL"), text, nargs=2)
    setting.repeats("--skill", ("SERVER", "SKILL"), tr("a skill to include, by its name or its server's URI"), nargs=2)
    setting.takes("--description", "TEXT", default="")
    command(profiles, "remove", tr("remove a profile"), remove_profile).takes("name")


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
            "Give it to an AI client with `tooltray-bridge --profile NAME`, or: tooltray clients mode CLIENT --profile {name}",
            name=args.name,
        )
        print_note(line)
    return 0


def _by_server(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for server, name in pairs:
        found.setdefault(server, []).append(name)
    return found


def remove_profile(args: argparse.Namespace, home: Home) -> int:
    """Removes a profile that no kind of client has by its settings; sessions that requested it themselves see nothing from then on."""
    with started_hub(home) as hub:
        hub.ask(hub.api.views.remove_profile(name=args.name))
        users = [each for each in hub.ask(hub.api.views.get_sessions()) if each.profile == args.name and each.is_connected]
    removed = {"profile": args.name, "removed": True, "sessions": [each.id for each in users]}
    answer(args, removed, tr("The profile {name} is removed.", name=clean_line(args.name)))
    if users and not args.json:
        who = ", ".join(f"{each.client or '?'} ({each.id})" for each in users)
        text = tr(
            "Warning: these sessions requested it and see no tools now: {who}. Create a profile with this name to give them tools again.",
            who=who,
        )
        print_note(text)
    return 0


def _profile_row(profile: ProfileSnapshot) -> list[str]:
    servers = tr("all") if profile.servers is None else ", ".join(profile.servers) or tr("none")
    parts = [tr("{number} of {server}", number=len(tools), server=server) for server, tools in profile.tools.items()]
    only = tr(" (only {parts})", parts=", ".join(parts)) if parts else ""
    return [profile.name, str(profile.tool_count), servers + only, profile.description]


Override = JsonObject
"""An override as in `toolOverrides`: `name`, `description`, `title`, `annotations`, `icons`."""

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_VALUES: Mapping[str, bool | None] = {"yes": True, "no": False, "own": None}
_TEXTS = ("name", "description", "title")


def given_override(args: argparse.Namespace) -> Override:
    """Returns the override that was typed.

    Raises:
        TooltrayError: a hint is unknown, or has an invalid value.
    """
    texts = {text: value for text in _TEXTS if (value := getattr(args, text)) is not None}
    hints = {"annotations": dict(map(_hint, args.hint))} if args.hint else {}
    return texts | hints | ({"icons": [{"src": src} for src in args.icon]} if args.icon else {})


def override_before(entry: Mapping[str, object], tool: str) -> Override:
    """Returns the part of a tool's override in the settings that can be kept."""
    overrides = entry.get("toolOverrides")
    found = overrides.get(tool) if isinstance(overrides, dict) else None
    kinds = {**dict.fromkeys(_TEXTS, str), "annotations": dict, "icons": list}
    return {name: found[name] for name, kind in kinds.items() if isinstance(found.get(name), kind)} if isinstance(found, dict) else {}


def merged_overrides(override_before: Override, given_override: Override) -> Override:
    """Merges two overrides: hints one by one, everything else as a whole."""
    hints = {**override_before.get("annotations", {}), **given_override.get("annotations", {})}
    hints = {name: value for name, value in hints.items() if value is not None}
    return (
        {**override_before, **given_override, "annotations": hints}
        if hints
        else {k: v for k, v in {**override_before, **given_override}.items() if k != "annotations"}
    )


def override_words(tool: str, override: Override, got: str) -> str:
    """Describes the outcome. `got`: the name that AI clients see."""
    if not override:
        return tr("{tool} has its own name and description again.", tool=tool)
    shown = tr("as {got}", got=got) if override.get("name") else tr("under its own name")
    if override.keys() <= {"name"}:
        return tr("{tool} is shown {how}.", tool=tool, how=shown)
    if override.keys() <= {"name", "description"}:
        return tr("{tool} is shown {how}, with your description.", tool=tool, how=shown)
    return tr("{tool} is shown {how}, with your changes.", tool=tool, how=shown)


def _hint(text: str) -> tuple[str, bool | None]:
    name, _, value = text.partition("=")
    if name not in HINTS or value not in _VALUES:
        hint = tr("Use one of {hints}, with yes, no or own: --hint readOnlyHint=no", hints=", ".join(HINTS))
        raise TooltrayError(tr("{hint} is not a hint", hint=text), hint=hint)
    return name, _VALUES[value]


LIST_TIMEOUT_S = 60.0  # for the tools of a server that was just restarted
MOST_REASONS = 3


def check_effect(hub: Hub, what: str, *, counts: bool) -> None:
    """
    Args:
        what: the written setting, as the beginning of a sentence.
        counts: whether the hub uses the setting now.

    Raises:
        TooltrayError: the setting has no effect; the message has the problems of the settings.
    """
    if counts:
        return
    notices = [f"{notice.title}: {notice.message}" for notice in hub.ask(hub.api.hub.get_snapshot()).notices]
    why = "; ".join(notices[:MOST_REASONS]) or tr("another program changed the settings at the same time")
    raise TooltrayError(tr("{what} in the settings is ignored", what=what), why, tr("See: tooltray status"))


def warn_of_missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> None:
    """Prints a note about servers and tools that do not exist.

    Args:
        servers: by name.
        tools: the servers' own names for them, by server.
    """
    if missing := list(_missing(hub, servers, tools)):
        print_note(tr("Warning: {missing}. The choice is saved for when it exists.", missing="; ".join(missing)))


def tools_of(hub: Hub, server: str) -> dict[str, ToolSnapshot]:
    """Returns the known tools of a server, by its own names for them; empty if it was never listed."""
    if not any(each.name == server and each.tool_count for each in hub.ask(hub.api.hub.get_snapshot()).servers):
        return {}
    return {each.original_name: each for each in hub.ask(hub.api.tools.get_tools(server=server), timeout_s=LIST_TIMEOUT_S)}


def _missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> Iterator[str]:
    there = {each.name for each in hub.ask(hub.api.hub.get_snapshot()).servers}
    yield from (tr("server '{name}' not found", name=clean_line(name)) for name in servers if name not in there)
    for server in there.intersection(tools):
        known = tools_of(hub, server)
        yield from (
            tr("'{server}' has no tool '{tool}'", server=server, tool=clean_line(tool))
            for tool in tools[server]
            if known and tool not in known
        )
