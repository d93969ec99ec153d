"""`tooltray servers ...`: lists, adds, removes, starts, stops and restarts servers, and shows what they wrote to standard error.

Above it: run. Below it: a hub or, for list, add and remove where none runs, the settings.
"""

import argparse
import contextlib
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from tooltray.cli import auto_approve
from tooltray.cli.confirm import confirmed
from tooltray.cli.hub import hub_or_settings, started_hub
from tooltray.cli.project_server import FILE, project_entry, real_folder
from tooltray.cli.secret_input import ask_for_secrets, is_person_there
from tooltray.cli.secrets import with_secrets
from tooltray.cli.start_progress import progress_shown
from tooltray.cli.terminal import (
    clean,
    clean_line,
    count,
    needs_sign_in,
    print_error,
    print_json,
    print_note,
    print_table,
    problem_line,
    state_in_words,
    to_json,
)
from tooltray.cli.unused_secrets import going, gone, once_unlocked
from tooltray.control.control_client import Hub
from tooltray.errors import Problem, TooltrayError, in_one_line
from tooltray.home.home import Home

START_TIMEOUT_S = 660.0  # a first start may download a whole runtime; the hub's own limits are shorter and say more
LIST_TIMEOUT_S = 60.0  # for the first list of a server's tools
STOP_TIMEOUT_S = 60.0  # the grace that a server gets, and more
FOLLOW_EVERY_S = 0.5  # a log is asked for anew: the hub sends none of its lines by itself
APPROVED = [auto_approve.ALL]  # who types a server's command line trusts it
CLIENT_SECRET = "CLIENT_SECRET"  # behind the server's name
_KEY_HEADER = re.compile("auth|key|token|secret|cookie", re.IGNORECASE)


def list_servers(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        servers = hub.call("get_snapshot")["servers"]
    if args.json:
        print_json(servers)
        return 0
    if not servers:
        print("There are no servers yet. Add one with: tooltray servers add NAME -- COMMAND ARGS...")
        return 0
    titles, rows = ["NAME", "STATE", "TRANSPORT", "TOOLS", "STARTS", "PROBLEM"], [_row(server) for server in servers]
    if any(server.get("file") for server in servers):  # an older hub does not have it
        titles.insert(-1, "FROM")
        for server, row in zip(servers, rows, strict=True):
            row.insert(-1, server.get("file") or "-")
    print_table(titles, rows)
    for server in servers:
        if server["is_default"] and server.get("idle_stop_s"):
            print_note(f"{server['name']} starts with the hub, so it stays up: its idleStop is of no effect.")
    if not hub.is_running:
        print_note("No hub is running; this is what the settings say.")
    return 0


def _row(server: dict[str, Any]) -> list[str]:
    tools = (str(server["tool_count"]) if server["tool_count"] else "-") + (" (lazy)" if server.get("is_lazy") else "")
    return [
        server["name"],
        state_in_words(server["state"]),
        server["transport"],
        tools,
        _starts(server),
        in_one_line(problem_line(server["problem"]), server["detail"]),
    ]


def _starts(server: dict[str, Any]) -> str:
    """When it starts, and when it is stopped again."""
    if server.get("is_deferred") and not server["is_disabled"]:
        return "with a project"
    if server["is_disabled"] or server["is_default"]:
        return "disabled" if server["is_disabled"] else "default"
    idle_stop_s = server.get("idle_stop_s")  # an older hub does not have it
    return f"on demand, up to {idle_stop_s:g} s idle" if idle_stop_s else "on demand"


def add(args: argparse.Namespace, home: Home) -> int:
    """Adds a server; with a hub running, a default server starts at once.

    Returns:
        1 where it was added but does not start: a script should notice. One that waits for a sign-in is as it should be.
    """
    rules = [auto_approve.READ] if args.ask else auto_approve.checked(args.name, args.approve)
    args.server, args.is_approval_chosen = args.name, bool(rules)
    if args.project is not None:
        args.project = real_folder(args.project)
        started_hub(home).close()  # the hub alone writes a project's file, and trusts what it writes
    with contextlib.closing(hub_or_settings(home)) as hub:
        _refuse_taken_name(hub, args)
        args.rules = rules or _rules_so_far(hub, args.name)
        twin = _twin(hub, args)
    names = [f"{args.name}/{key}" for key in (*args.secret, *_secret_headers(args), *([CLIENT_SECRET] if args.client_secret else []))]
    values = ask_for_secrets(names, from_stdin=args.secret_stdin)  # no lock is held while a person types
    with progress_shown(home, args.name):
        added = with_secrets(home, lambda hub: _add(hub, args, values))
    if args.json:
        done = {"server": args.server, "default": not (args.on_demand or args.deferred), "autoApprove": args.rules, "secrets": names}
        done |= {"project": args.project} if args.project else {}
        print_json(done | {"started": added.is_started, "tools": added.tools, "needs_sign_in": added.needs_sign_in})
    else:
        print(_added_line(args, added))
        print(auto_approve.in_words(args.rules))
        if twin:
            print_note(
                f"{twin} runs the same already, so these tools are offered twice. Take one away: tooltray servers remove {args.server}"
            )
        _note_files_of_here(args)
        _note_plain_headers(args)
        _note_plain_variables(args)
        _note_missing_variables(args)
        _note_braces(args)
    if added.problem is not None:
        print_error(added.problem, as_json=args.json)
        if added.has_log:
            note_log(args.server)
        return 1
    return 0


class _Added(msgspec.Struct, frozen=True):
    """What came of adding a server: whether it was started, how many tools it has if it has listed them, whether it waits for a sign-in,
    and what else kept it.
    """

    is_hub_running: bool
    is_started: bool = False
    tools: int | None = None
    needs_sign_in: bool = False
    problem: Problem | None = None
    has_log: bool = False


def _add(hub: Hub, args: argparse.Namespace, values: dict[str, str]) -> _Added:
    _refuse_taken_name(hub, args)
    with _secrets_stored(hub, values):
        _store(hub, args)
    if args.on_demand or args.deferred or not hub.is_running:
        return _Added(hub.is_running)
    note_start(args.server)
    try:
        return _Added(True, is_started=True, tools=tools_once_started(hub, args.server))
    except TooltrayError as error:
        is_waiting = _is_waiting_for_sign_in(hub, args.server)
        return _Added(True, needs_sign_in=is_waiting, problem=None if is_waiting else error.problem, has_log=_has_log(hub, args.server))


def _has_log(hub: Hub, name: str) -> bool:
    with contextlib.suppress(TooltrayError):  # the hub has ended
        return bool(hub.call("get_server_log", name=name, lines=1))
    return False


def note_log(name: str) -> None:
    """Where a server that failed says more."""
    print_note(f"What it wrote: tooltray servers logs {shlex.quote(name)}")


def _is_waiting_for_sign_in(hub: Hub, name: str) -> bool:
    with contextlib.suppress(TooltrayError):  # the hub has ended, and that is being told already
        return server_snapshot(hub, name).get("state") == "needs_sign_in"
    return False


def tools_once_started(hub: Hub, name: str, verb: str = "start_server") -> int | None:
    """Starts a server and waits for the outcome and, at its first start, for the list of its tools.

    Returns:
        How many tools it has; None if it has not said that in time.

    Raises:
        TooltrayError: it does not start; says why.
    """
    hub.call(verb, timeout_s=START_TIMEOUT_S, name=name)
    tools = hub.call("get_tools", timeout_s=LIST_TIMEOUT_S, server=name)
    return len(tools) if tools or server_snapshot(hub, name).get("is_listed", True) else None


def running_in_words(tools: int | None, again: str = "") -> str:
    """What is said of a server that was started. `tools`: as of tools_once_started."""
    return f"is running{again}, but has not listed its tools yet" if tools is None else f"is running{again} and has {count(tools, 'tool')}"


def server_snapshot(hub: Hub, name: str) -> dict[str, Any]:
    """How a server is now; empty for one that is not there any more."""
    return next((server for server in hub.call("get_snapshot")["servers"] if server["name"] == name), {})


def _store(hub: Hub, args: argparse.Namespace) -> None:
    entry, is_default = _entry(args), not (args.on_demand or args.deferred)
    if args.project:
        entry = project_entry(entry, args.project, is_approval_chosen=args.is_approval_chosen)
        params = {"name": args.name, "config": entry, "project": args.project}
        args.server = hub.call("add_mcp_server", timeout_s=STOP_TIMEOUT_S, **params)  # another one where this name is kept
        return
    if args.name not in hub.call("get_mcp_servers"):
        hub.call("add_mcp_server", timeout_s=STOP_TIMEOUT_S, name=args.name, config=entry, is_default=is_default)
        return
    hub.call("update_mcp_server", timeout_s=STOP_TIMEOUT_S, name=args.name, config=entry)
    hub.call("add_mcp_default_server" if is_default else "remove_mcp_default_server", timeout_s=STOP_TIMEOUT_S, name=args.name)


def _refuse_taken_name(hub: Hub, args: argparse.Namespace) -> None:
    if not args.replace and args.name in hub.call("get_mcp_servers"):
        hint = "Choose another name" if args.project else "Choose another name, or replace it with --replace"
        raise TooltrayError(f"There is a server called {args.name} already", "", hint)


def _rules_so_far(hub: Hub, name: str) -> list[str]:
    """A server that is replaced may do no more than before without asking."""
    entry = hub.call("get_mcp_servers").get(name)
    return APPROVED if entry is None else auto_approve.of_entry(entry)


def _twin(hub: Hub, args: argparse.Namespace) -> str:
    """The server of another name that runs the same program in the same way; empty: none."""
    from tooltray.settings.server_config import config_hash
    from tooltray.settings.settings import read_entry

    for name, entry in hub.call("get_mcp_servers").items():
        with contextlib.suppress(TooltrayError):  # an entry that cannot be used runs nothing, and the new one is refused when it is stored
            is_same = config_hash(read_entry(name, entry)) == config_hash(read_entry(args.name, _entry(args)))
            if is_same and name != args.name and not read_entry(name, entry).disable:
                return str(name)
    return ""


def _added_line(args: argparse.Namespace, added: _Added) -> str:
    what = f"{args.server} to {os.path.join(args.project, FILE)}" if args.project else args.server
    if added.is_started:
        return f"Added {what}; it {running_in_words(added.tools)}."
    if added.needs_sign_in:
        return f"Added {what}; {needs_sign_in(args.server)}"
    if args.deferred:
        return f"Added {args.name}; it starts when an AI client works on a project{_stops_again(args)}."
    if args.on_demand:
        return f"Added {args.name}; it starts when it is first used{_stops_again(args)}."
    return f"Added {what}, which does not start." if added.problem else f"Added {args.name}; it starts with the hub."


def _note_braces(args: argparse.Namespace) -> None:
    """What is not filled in, although it looks so."""
    if args.deferred:
        from tooltray.settings.expansion import project_remark
        from tooltray.settings.settings import read_entry

        if remark := project_remark(read_entry(args.name, _entry(args))):
            print_note(remark)


def _stops_again(args: argparse.Namespace) -> str:
    return f" and stops after {args.idle_stop:g} s without a call" if args.idle_stop else ""


def _entry(args: argparse.Namespace) -> dict[str, Any]:
    """The entry as it stands in the settings."""
    entry = _remote_entry(args) if args.url else _command_entry(args)
    optional = {"icons": args.icon, "descriptions": args.description, "isolation": args.isolation, "idleStop": args.idle_stop}
    given = {field: value for field, value in optional.items() if value}
    return entry | given | _deferred(args) | {"autoApprove": args.rules}


def _deferred(args: argparse.Namespace) -> dict[str, Any]:
    template = {} if args.template is None else {"startupArgsTemplate": shlex.split(args.template)}
    return {"deferredStartup": True} | template if args.deferred else {}


def _remote_entry(args: argparse.Namespace) -> dict[str, Any]:
    secrets = {name: f"{prefix}${{secret:{args.name}/{name}}}" for name, prefix in _secret_headers(args).items()}
    headers, oauth = dict(args.header) | secrets, _oauth(args)
    entry = {"type": "sse" if args.sse else "http", "url": args.url}
    return entry | ({"headers": headers} if headers else {}) | ({"oauth": oauth} if oauth else {})


def _oauth(args: argparse.Namespace) -> dict[str, Any]:
    """How to sign in, where the server does not say all of it."""
    given = {
        "clientId": args.client_id,
        "clientSecret": f"${{secret:{args.name}/{CLIENT_SECRET}}}" if args.client_secret else None,
        "scopes": args.scope,
        "redirectPort": args.redirect_port,
        "grant": "client_credentials" if args.client_credentials else None,
    }
    return {field: value for field, value in given.items() if value}


def _secret_headers(args: argparse.Namespace) -> dict[str, str]:
    """The headers whose value is a secret, with what stands before it."""
    return dict.fromkeys(args.header_secret, "") | ({"Authorization": "Bearer "} if args.bearer_secret else {})


def _command_entry(args: argparse.Namespace) -> dict[str, Any]:
    """Paths of here are made absolute, since the hub runs elsewhere."""
    command, *arguments = args.command_line
    folder = os.path.abspath(args.cwd) if args.cwd and not args.cwd.startswith(("~", "$")) else args.cwd
    if os.sep in command and not command.startswith(("~", "$")):
        command = os.path.abspath(os.path.join(folder or "", command))
    entry: dict[str, Any] = {"command": command, "args": arguments}
    env = dict(args.env) | {key: f"${{secret:{args.name}/{key}}}" for key in args.secret}
    return entry | ({"env": env} if env else {}) | ({"cwd": folder} if folder else {})


def _note_files_of_here(args: argparse.Namespace) -> None:
    """`python server.py` works in this folder and nowhere else; the commonest reason why a new server does not start."""
    relative = (word for word in args.command_line[1:] if not os.path.isabs(word))
    found = next((word for word in relative if os.path.isfile(word)), None)
    if found and not (args.cwd or args.project):
        print_note(f"{found} is a file in this folder, but the server runs in your home folder. If it is meant, add --cwd . --replace")


def _note_plain_headers(args: argparse.Namespace) -> None:
    """A key on the command line is a key in the settings and in the shell's history."""
    if plain := next((name for name, value in args.header if _KEY_HEADER.search(name) and "${" not in value), None):
        print_note(f"{plain} now stands in the settings as it is. To keep it secret, give --header-secret {plain} --replace")


def _note_plain_variables(args: argparse.Namespace) -> None:
    """The same for the environment of a command."""
    if args.env:
        from tooltray.entries.pasted import looks_secret

        for name in (name for name, value in args.env if looks_secret(name, value)):
            print_note(f"{name} now stands in the settings as it is. To keep it secret, give --secret {name} in its place, and --replace")


def _note_missing_variables(args: argparse.Namespace) -> None:
    """A well-known server may start without its key, and fail at each call."""
    if args.url:
        return
    from tooltray.catalogue.known_servers import KnownServers
    from tooltray.resources import resource
    from tooltray.settings.settings import read_entry

    needs = KnownServers(resource("known-servers.json")).variables(args.name, read_entry(args.name, _entry(args)))
    given = {*args.secret, *(name for name, _ in args.env), *os.environ}
    for name in (name for name in needs if name not in given):
        print_note(f"It usually needs {name}. To give it one, add --secret {name} --replace")


@contextlib.contextmanager
def _secrets_stored(hub: Hub, values: dict[str, str]) -> Iterator[None]:
    """Stores secrets, and forgets the new ones where what follows fails."""
    if not values:
        yield
        return
    known = set(hub.call("get_secret_names"))
    stored: list[str] = []
    try:
        for name, value in values.items():
            hub.call("set_secret", timeout_s=None, name=name, value=value)  # the keyring may ask the person to unlock it
            stored.append(name)
        yield
    except TooltrayError:
        with contextlib.suppress(TooltrayError):
            hub.call("remove_unused_secrets", timeout_s=None, names=[name for name in stored if name not in known])
        raise


def remove(args: argparse.Namespace, home: Home) -> int:
    """Removes a server, and what is among the secrets for it alone; a person at a terminal is asked where there is any."""
    kept: dict[str, Any] = {"keep_secrets": True} if args.keep_secrets else {}
    if is_person_there() and not (args.yes or kept):
        with contextlib.closing(hub_or_settings(home)) as hub:
            lines = going(hub.call("preview_removal", timeout_s=None, name=args.name))
        if lines and not confirmed(f"Remove {args.name}? {' '.join(lines)}", yes=False):
            print("Nothing was changed.")
            return 0
    with contextlib.closing(hub_or_settings(home)) as hub:
        removal = hub.call("remove_mcp_server", timeout_s=None, name=args.name, **kept)  # the keyring may ask to be unlocked
    if removal["problem"] and is_person_there() and not kept:
        removal = once_unlocked(removal, home)
    if args.json:
        secrets = [] if kept or removal["problem"] else removal["secrets"]
        print_json({"server": args.name, "removed": True, "secrets": secrets, "kept": removal["shared"], "problem": removal["problem"]})
        return 0
    print(f"Removed {args.name}.")
    for line in () if kept else gone(removal):
        print(clean_line(line))
    return 0


def start(args: argparse.Namespace, home: Home) -> int:
    return _start(args, home, "start_server")


def restart(args: argparse.Namespace, home: Home) -> int:
    return _start(args, home, "restart_server", again=" again")


def stop(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        hub.call("stop_server", timeout_s=START_TIMEOUT_S, name=args.name)
        server = server_snapshot(hub, args.name)
    print_json(server) if args.json else print(f"{args.name} has stopped.")
    return 0


def _start(args: argparse.Namespace, home: Home, verb: str, *, again: str = "") -> int:
    with contextlib.closing(started_hub(home)) as hub:
        note_start(args.name)
        with progress_shown(home, args.name):
            tools = tools_once_started(hub, args.name, verb)
        server = server_snapshot(hub, args.name)
    if args.json:
        print_json(server)
    else:
        print(f"{args.name} {running_in_words(tools, again)}.")
    return 0


def note_start(name: str) -> None:
    """So that a person who waits for a download does not think that nothing happens."""
    if sys.stderr.isatty():
        print_note(f"Starting {name} ... (the first start of a server may download it)")


def logs(args: argparse.Namespace, home: Home) -> int:
    """Prints the last lines; with `--follow` goes on until Ctrl-C or the hub's end."""
    with contextlib.closing(started_hub(home)) as hub:
        lines = hub.call("get_server_log", name=args.name, lines=args.lines)
        if args.json and not args.follow:
            print_json(lines)
            return 0
        _print_lines(lines, as_json=args.json)
        while args.follow:
            time.sleep(FOLLOW_EVERY_S)
            seen, lines = lines, hub.call("get_server_log", name=args.name, lines=args.lines)
            _print_lines(new_lines(seen, lines), as_json=args.json)
    return 0


def _print_lines(lines: list[str], *, as_json: bool) -> None:
    for line in lines:
        print(to_json(line, indent=None) if as_json else clean(line), flush=True)


def new_lines(seen: list[str], lines: list[str]) -> list[str]:
    """What was added to the end of a log of which only the last lines are kept: what follows the longest overlap with what was seen."""
    overlaps = (seen[dropped:] for dropped in range(len(seen) + 1))
    return lines[len(next(overlap for overlap in overlaps if lines[: len(overlap)] == overlap)) :]  # the empty one always is
