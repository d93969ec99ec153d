"""`tooltray servers ...`: lists, removes, starts, stops and restarts servers, and shows what they wrote to standard error.

Listing and removing needs no hub. Other commands that start servers share the functions at the end.
"""

import argparse
import contextlib
import shlex
import sys
import threading
import time
from collections.abc import Iterator

import msgspec

from tooltray.carriers.control.control_client import ControlClient
from tooltray.cli.commands.secrets_command import going, gone, once_unlocked
from tooltray.cli.hubs import Hub, any_hub, started_hub
from tooltray.cli.person import confirmed, is_person_there
from tooltray.cli.speech import in_one_line, tr
from tooltray.cli.terminal import (
    NOT_KNOWN,
    answer,
    clean,
    clean_line,
    count,
    print_json,
    print_note,
    print_table,
    problem_line,
    state_in_words,
    to_json,
)
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState

START_TIMEOUT_S = 660.0  # a first start may download a whole runtime; the hub's own limits are shorter and give a reason
LIST_TIMEOUT_S = 60.0  # for the first list of a server's tools
STOP_TIMEOUT_S = 60.0  # longer than the grace that a server gets
FOLLOW_EVERY_S = 0.5  # the log is requested again: the hub sends no lines on its own
PROGRESS_END_S = 2.0  # for the thread that shows progress, whose connection is closed: it ends at once
ON_ITS_WAY = (ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING)


def list_servers(args: argparse.Namespace, home: Home) -> int:
    with any_hub(home) as hub:
        servers = hub.ask(hub.api.hub.get_snapshot()).servers
    if args.json or not servers:
        return answer(args, servers, tr("There are no servers yet. Add one with: tooltray servers add NAME -- COMMAND ARGS..."))
    titles, rows = (
        [tr("NAME"), tr("STATE"), tr("TRANSPORT"), tr("TOOLS"), tr("STARTS"), tr("PROBLEM")],
        [_row(server) for server in servers],
    )
    if any(server.file for server in servers):
        titles.insert(-1, tr("FROM"))
        for server, row in zip(servers, rows, strict=True):
            row.insert(-1, server.file or "-")
    print_table(titles, rows)
    for server in servers:
        if server.is_default and server.idle_stop_s:
            print_note(tr("{name} starts with the hub, so it stays up: its idleStop is of no effect.", name=server.name))
    if not hub.is_running:
        print_note(tr("No hub is running; this is what the settings say."))
    return 0


def _row(server: ServerSnapshot) -> list[str]:
    tools = (str(server.tool_count) if server.is_listed else NOT_KNOWN) + (" (lazy)" if server.is_lazy else "")
    state = tr("waits for approval") if server.waiting and server.state is ServerState.WAITING else state_in_words(server.state.value)
    problem = in_one_line(problem_line(server.problem), server.detail)
    return [server.name, state, server.transport, tools, _starts(server), problem]


def _starts(server: ServerSnapshot) -> str:
    """Describes when a server starts, and when it is stopped again."""
    if server.is_disabled:
        return tr("disabled")
    if server.is_deferred or server.is_default:
        return tr("with a project") if server.is_deferred else tr("default")
    return tr("on demand, up to {idle_stop_s} s idle", idle_stop_s=f"{server.idle_stop_s:g}") if server.idle_stop_s else tr("on demand")


def links(args: argparse.Namespace, home: Home) -> int:
    """Prints the links that add a server, or Tooltray, to AI clients."""
    with any_hub(home) if args.name else started_hub(home) as hub:
        found = hub.ask(hub.api.servers.get_client_links(server=args.name))
    lines = [f"{client}: {clean_line(link)}" for client, link in found.items()]
    return answer(args, found, *lines, tr("No value of a secret is in them: the client asks for it, or reads a variable of its name."))


def remove(args: argparse.Namespace, home: Home) -> int:
    """Removes a server and the secrets that only it used; asks a user at a terminal if there are any."""
    kept: bool = args.keep_secrets
    if is_person_there() and not (args.yes or kept):
        with any_hub(home) as hub:
            lines = going(hub.ask(hub.api.secrets.preview_removal(name=args.name), timeout_s=None))
        if lines and not confirmed(tr("Remove {name}? {lines}", name=args.name, lines=" ".join(lines)), yes=False):
            print(tr("Nothing was changed."))
            return 0
    with any_hub(home) as hub:
        servers = hub.api.servers
        removing = servers.remove_mcp_server(name=args.name, keep_secrets=True) if kept else servers.remove_mcp_server(name=args.name)
        removal = hub.ask(removing, timeout_s=None)  # the keyring may ask to be unlocked
    if removal.problem and is_person_there() and not kept:
        removal = once_unlocked(removal, home)
    secrets = () if kept or removal.problem else removal.secrets
    done = {"server": args.name, "removed": True, "secrets": secrets, "kept": removal.shared, "problem": removal.problem}
    return answer(args, done, tr("Removed {name}.", name=args.name), *map(clean_line, () if kept else gone(removal)))


def start(args: argparse.Namespace, home: Home) -> int:
    return _start(args, home)


def restart(args: argparse.Namespace, home: Home) -> int:
    return _start(args, home, is_again=True)


def stop(args: argparse.Namespace, home: Home) -> int:
    """Stops a server. If no hub runs, none is started: the command only records that the server must not start."""
    with any_hub(home) as hub:
        hub.ask(hub.api.servers.stop_server(name=args.name), timeout_s=START_TIMEOUT_S)
        server = server_snapshot(hub, args.name)
    done = (
        tr("{name} has stopped.", name=args.name)
        if hub.is_running
        else tr("No hub is running; {name} will not start until you start it.", name=args.name)
    )
    return answer(args, server or {}, done)


def _start(args: argparse.Namespace, home: Home, *, is_again: bool = False) -> int:
    with started_hub(home) as hub:
        note_start(args.name)
        with progress_shown(home, args.name):
            tools = tools_once_started(hub, args.name, is_again=is_again)
        server = server_snapshot(hub, args.name)
    return answer(args, server or {}, f"{args.name} {running_in_words(tools, is_again=is_again)}.")


def logs(args: argparse.Namespace, home: Home) -> int:
    """Prints the last lines; with `--follow` continues until Ctrl-C or the hub's end."""
    with started_hub(home) as hub:
        lines = hub.ask(hub.api.servers.get_server_log(name=args.name, lines=args.lines))
        if args.json and not args.follow:
            print_json(lines)
            return 0
        _print_lines(lines, as_json=args.json)
        while args.follow:
            time.sleep(FOLLOW_EVERY_S)
            seen, lines = lines, hub.ask(hub.api.servers.get_server_log(name=args.name, lines=args.lines))
            _print_lines(new_lines(seen, lines), as_json=args.json)
    return 0


def _print_lines(lines: list[str], *, as_json: bool) -> None:
    for line in lines:
        print(to_json(line, indent=None) if as_json else clean(line), flush=True)


def new_lines(seen: list[str], lines: list[str]) -> list[str]:
    """Returns the lines added to a log of which only the last lines are kept: those after the longest overlap with the seen ones."""
    overlaps = (seen[dropped:] for dropped in range(len(seen) + 1))
    return lines[len(next(overlap for overlap in overlaps if lines[: len(overlap)] == overlap)) :]  # the empty overlap always matches


# functions for one server, also used by other commands


def server_snapshot(hub: Hub, name: str) -> ServerSnapshot | None:
    """Returns the snapshot of a server; None if it does not exist any more."""
    return next((server for server in hub.ask(hub.api.hub.get_snapshot()).servers if server.name == name), None)


def present_server(hub: Hub, name: str) -> ServerSnapshot:
    """Raises:
    NotFound: the server does not exist.
    """
    server = server_snapshot(hub, name)
    if server is None:
        raise NotFound(tr("there is no server '{name}'", name=name), hint=tr("See which there are: tooltray servers list"))
    return server


def tools_once_started(hub: Hub, name: str, *, is_again: bool = False) -> int | None:
    """Starts or restarts a server and waits for the outcome and, at its first start, for the list of its tools.

    Returns:
        How many tools it has; None if it has not listed them in time.

    Raises:
        TooltrayError: it does not start.
    """
    servers = hub.api.servers
    hub.ask(servers.restart_server(name=name) if is_again else servers.start_server(name=name), timeout_s=START_TIMEOUT_S)
    tools = hub.ask(hub.api.tools.get_tools(server=name), timeout_s=LIST_TIMEOUT_S)
    server = None if tools else server_snapshot(hub, name)
    return len(tools) if server is None or server.is_listed else None


def running_in_words(tools: int | None, *, is_again: bool = False) -> str:
    """Describes a server that was started. `tools`: the result of tools_once_started."""
    if tools is None:
        return tr("is running again, but has not listed its tools yet") if is_again else tr("is running, but has not listed its tools yet")
    found = count(tools, "tool")
    return tr("is running again and has {tools}", tools=found) if is_again else tr("is running and has {tools}", tools=found)


def note_start(name: str) -> None:
    """Prints a note, so that a user who waits for a download knows that the server is starting."""
    if sys.stderr.isatty():
        print_note(tr("Starting {name} ... (the first start of a server may download it)", name=name))


def note_log(name: str) -> None:
    """Prints where the output of a failed server is."""
    print_note(tr("What it wrote: tooltray servers logs {name}", name=shlex.quote(name)))


@contextlib.contextmanager
def progress_shown(home: Home, server: str) -> Iterator[None]:
    """Prints a server's progress while it starts: how far its download is, why it is tried again.

    It uses a second connection, since the first one waits for the outcome. Prints nothing where no terminal shows it or no hub runs.
    """
    connection = _events(home) if sys.stderr.isatty() else None
    if connection is None:
        yield
        return
    thread = threading.Thread(target=_show_progress, args=(connection, server), name="start progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        connection.end()
        thread.join(PROGRESS_END_S)
        connection.close()


def _events(home: Home) -> ControlClient | None:
    try:
        return ControlClient.connect(home, with_events=True)
    except TooltrayError:  # the command itself will report that
        return None


def _show_progress(connection: ControlClient, name: str) -> None:
    shown = ""
    with contextlib.suppress(TooltrayError, msgspec.ValidationError):  # the second error: from a hub of another version
        for kind, data in connection.events():
            server = msgspec.convert(data["server"], ServerSnapshot) if kind == "ServerChanged" else None
            words = _progress(server) if server and server.name == name else ""
            if words and words != shown:
                shown = words
                print_note(f"{name}: {words}")


def _progress(server: ServerSnapshot) -> str:
    if server.state not in ON_ITS_WAY or not server.detail:
        return ""
    return in_one_line(server.problem.title if server.problem else "", server.detail)
