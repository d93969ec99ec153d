"""The commands for how tools are shown to AI clients: `tooltray sessions`, `clients mode`, `servers lazy`, `tools override`."""

import argparse
from collections import Counter
from collections.abc import Collection

from tooltray.cli.commands import tool_overrides
from tooltray.cli.effects import check_effect, tools_of, warn_of_missing
from tooltray.cli.hubs import started_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, print_json, print_note, print_table
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot

EVERY = "*"
"""Means all clients or servers if typed instead of a name."""
DEFAULT = "default"
OVERRULED = Phrase(
    "It is of no effect while another mode is chosen for all AI clients. To take that back: tooltray clients mode '*' default"
)
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
        print(tr("No AI client has a session now."))
    if left := Counter(each.client or "?" for each in found if not each.is_connected):
        who = ", ".join(f"{name} ({number})" if number > 1 else name for name, number in left.items())
        print_note(tr("Left in the last minutes, and found as they were if they come back: {who}.", who=who))
    return 0


def mode(args: argparse.Namespace, home: Home) -> int:
    """Changes how tools are shown to one kind of client, and its profile; options that are not given stay unchanged."""
    client = "" if args.client == EVERY else args.client
    profile = "" if args.no_profile else args.profile
    if args.mode is None and profile is None:
        raise TooltrayError(tr("There is nothing to choose"), hint=tr("Give a MODE, --profile NAME or --no-profile"))
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
            "No AI client has called itself {client} yet. Those that are known: {value}.",
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
        return tr("Nothing is chosen for {client} any more: it sees what every other AI client does.", client=clean_line(client))
    return tr("Chosen for {client}.", client=clean_line(client) or tr("all AI clients that have no mode of their own"))


def lazy(args: argparse.Namespace, home: Home) -> int:
    server = None if args.name == EVERY else args.name
    with started_hub(home) as hub:
        hub.ask(hub.api.views.set_lazy_load(enabled=_LAZY[args.switch], server=server))
        servers = [each for each in hub.ask(hub.api.hub.get_snapshot()).servers if server in (None, each.name)]
        check_effect(hub, tr("What was chosen"), counts=server is None or bool(servers))
    default = tr("shows its tools at once") if server is None else tr("does as is set for all servers")
    words = {"on": tr("shows one small tool; using it loads the rest"), "off": tr("shows its tools at once"), DEFAULT: default}
    whose = tr("Every server that does not say otherwise") if server is None else clean_line(server)
    answer(args, {"server": server, "lazy": _LAZY[args.switch]}, f"{whose} {words[args.switch]}.")
    if args.switch == "on" and servers and not any(each.is_lazy for each in servers) and not args.json:
        print_note(OVERRULED)
    return 0


def override(args: argparse.Namespace, home: Home) -> int:
    """Shows a tool under another name or description; options that are not given stay unchanged."""
    given = tool_overrides.given(args)
    if not args.clear and not given:
        raise TooltrayError(tr("There is nothing to change"), hint=tr("Give --name, --description, --title, --hint, --icon or --clear"))
    with started_hub(home) as hub:
        entry = hub.ask(hub.api.servers.get_server_entry(name=args.server)).counts
        override = tool_overrides.merged({} if args.clear else tool_overrides.before(entry, args.tool), given)
        name, description = override.get("name"), override.get("description")
        words = {"name": name, "description": description, **override}
        hub.ask(hub.api.views.set_tool_override(server=args.server, tool=args.tool, **words))
        if override:
            warn_of_missing(hub, (), {args.server: [args.tool]})
        shown = tools_of(hub, args.server).get(args.tool)
    published = shown.name if shown else None
    done = {"server": args.server, "tool": args.tool, **words, "published_name": published}
    got = clean_line(published or name or "")
    answer(args, done, tool_overrides.said(clean_line(tr("{tool} of {server}", tool=args.tool, server=args.server)), override, got))
    if name and got != name and not args.json:
        text = tr(
            "Another tool has the name {name}, or one that AI clients may take for it: sessions of all servers see {got}.",
            name=name,
            got=got,
        )
        print_note(text)
    return 0


def limit(args: argparse.Namespace, home: Home) -> int:
    """Limits how many tokens of a result clients get at once."""
    chosen = {"tokens": args.tokens, "server": args.server, "tool": args.tool, "client": args.client}
    with started_hub(home) as hub:
        hub.ask(hub.api.views.set_result_limit(**chosen))
        if args.tool and args.tokens is not None:
            warn_of_missing(hub, (), {args.server: [args.tool]})
    whose = tr("{tool} of {server}", tool=args.tool, server=args.server) if args.tool else args.server or args.client
    most = "" if args.tokens is None else f"{args.tokens:,}"
    said = tr("{whose}: at most {tokens} tokens of a result at once.", whose=clean_line(whose), tokens=most)
    answer(args, chosen, said if most else tr("{whose}: no limit for results of its own.", whose=clean_line(whose)))
    return 0


def _session_row(session: SessionSnapshot, profiles: Collection[str]) -> list[str]:
    client = f"{session.client or '?'} {session.version}".strip()
    mode = session.mode if session.profile in ("", *profiles) else tr("nothing")
    project = session.project.path if session.project else "-"
    only = f" ({session.server} only)" if session.server else ""
    return [session.id, client, mode + only, session.profile or "-", project, ", ".join(session.activated) or "-", session.reason]
