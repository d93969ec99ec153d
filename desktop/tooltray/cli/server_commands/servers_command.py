"""`tooltray servers ...`: lists, removes, starts, stops, tests and signs in to servers, and shows what they wrote to standard error.

Listing and removing needs no hub. Other commands that start servers share the functions at the end.
"""

import argparse
import contextlib
import os
import shlex
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from tooltray.carriers.control.control_client import ControlClient
from tooltray.cli.commands.secrets_command import going, gone, once_unlocked
from tooltray.cli.hubs import Hub, RunningHub, any_hub, running_hub, started_hub
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
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.entries import ServerTest
from tooltray.foundation.snapshots.questions import SignInSnapshot
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
        return answer(args, servers, tr("No servers yet. Add one: tooltray servers add NAME -- COMMAND ARGS..."))
    titles, rows = (
        [tr("NAME"), tr("STATE"), tr("TRANSPORT"), tr("TOOLS"), tr("STARTS"), tr("ACCESS"), tr("PROBLEM")],
        [_row(server) for server in servers],
    )
    if any(server.file for server in servers):
        titles.insert(-1, tr("FROM"))
        for server, row in zip(servers, rows, strict=True):
            row.insert(-1, server.file or "-")
    print_table(titles, rows)
    for server in servers:
        if server.is_default and server.idle_stop_s:
            print_note(tr("{name} starts with Tooltray and keeps running, so its idleStop has no effect.", name=server.name))
    if not hub.is_running:
        print_note(tr("Tooltray is not running; this is from the settings."))
    return 0


def _row(server: ServerSnapshot) -> list[str]:
    tools = (str(server.tool_count) if server.is_listed else NOT_KNOWN) + (" (lazy)" if server.is_lazy else "")
    state = tr("waits for approval") if server.waiting and server.state is ServerState.WAITING else state_in_words(server.state.value)
    problem = in_one_line(problem_line(server.problem), server.detail)
    return [server.name, state, server.transport, tools, _starts(server), _access(server), problem]


def _starts(server: ServerSnapshot) -> str:
    """Describes when a server starts, and when it is stopped again."""
    if server.is_disabled:
        return tr("disabled")
    if server.is_deferred or server.is_default:
        return tr("with a project") if server.is_deferred else tr("default")
    return tr("when used, up to {idle_stop_s} s idle", idle_stop_s=f"{server.idle_stop_s:g}") if server.idle_stop_s else tr("when used")


def _access(server: ServerSnapshot) -> str:
    words = {"careful": tr("careful"), "trusted": tr("trusted"), "free": tr("free"), None: tr("custom")}
    return words[server.access.choice] if server.access is not None else "-"


def links(args: argparse.Namespace, home: Home) -> int:
    """Prints the links that add a server, or Tooltray, to AI clients."""
    with any_hub(home) if args.name else started_hub(home) as hub:
        found = hub.ask(hub.api.servers.get_client_links(server=args.name))
    lines = [f"{client}: {clean_line(link)}" for client, link in found.items()]
    return answer(args, found, *lines, tr("The links contain no secrets: the client asks for them, or reads variables of their names."))


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
        else tr("Tooltray is not running; {name} will not start until you start it.", name=args.name)
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
        raise NotFound(tr("server '{name}' not found", name=name), hint=tr("List the servers: tooltray servers list"))
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
    print_note(tr("Its output: tooltray servers logs {name}", name=shlex.quote(name)))


def progress_shown(home: Home, server: str) -> AbstractContextManager[None]:
    """Prints a server's progress while it starts: how far its download is, why it is tried again."""
    return events_shown(home, lambda kind, data: _progress(data, server) if kind == "ServerChanged" else "")


@contextlib.contextmanager
def events_shown(home: Home, in_words: Callable[[str, Any], str]) -> Iterator[None]:
    """Prints notes about the hub's events while inside; nothing where no terminal shows them or no hub runs.

    It uses a second connection, since the first one waits for the outcome.

    Args:
        in_words: makes the note from an event's kind and data; empty: none.
    """
    connection = _events(home) if sys.stderr.isatty() else None
    if connection is None:
        yield
        return
    thread = threading.Thread(target=_show_events, args=(connection, in_words), name="progress", daemon=True)
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


def _show_events(connection: ControlClient, in_words: Callable[[str, Any], str]) -> None:
    shown = ""
    with contextlib.suppress(TooltrayError, msgspec.ValidationError):  # the second error: from a hub of another version
        for kind, data in connection.events():
            words = in_words(kind, data)
            if words and words != shown:
                shown = words
                print_note(words)


def _progress(data: Any, name: str) -> str:
    server = msgspec.convert(data["server"], ServerSnapshot)
    if server.name != name or server.state not in ON_ITS_WAY or not server.detail:
        return ""
    return f"{name}: {in_one_line(server.problem.title if server.problem else '', server.detail)}"


def try_out(args: argparse.Namespace, home: Home) -> int:
    """Connects once to a server with its current settings; returns 1 if it does not work."""
    with started_hub(home) as hub:
        note_start(args.name)
        found = hub.ask(hub.api.servers.test_server(test=uuid.uuid4().hex, name=args.name), timeout_s=START_TIMEOUT_S)
    if not args.json and not found.is_ok:
        for line in found.output:
            print_note(clean_line(line))
    answer(args, found, _test_in_words(found))
    return 0 if found.is_ok else 1


def _test_in_words(test: ServerTest) -> str:
    if not test.is_ok:
        return tr("{server} does not work: {reason}", server=test.server, reason=problem_line(test.problem))
    tokens = count(test.tokens, "token")
    about = tr("about {tokens}", tokens=tokens) if test.is_estimated else tokens
    return tr(
        "Connected in {seconds} s, {tools}, {tokens}.", seconds=f"{test.took_s:.1f}", tools=count(len(test.tools), "tool"), tokens=about
    )


BEGIN_TIMEOUT_S = 150.0  # a slow server and several slow answers of the authorization server; the hub's own limits give a reason
FINISH_TIMEOUT_S = 690.0  # the user has ten minutes, and the tokens are fetched after that
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def sign_in(args: argparse.Namespace, home: Home) -> int:
    """Shows the page, waits for the user, and starts the server."""
    address = _pasted() if args.paste else None
    with started_hub(home) as hub:
        if address is None:
            _show_page(hub.ask(hub.api.sign_ins.begin_sign_in(name=args.name), timeout_s=BEGIN_TIMEOUT_S), args)
        _finish(hub, home, args.name, address)
        server, tools = _started_signed_in(hub, args.name)
        notices = hub.ask(hub.api.hub.get_snapshot()).notices
    runs = tr("; it {tools}", tools=running_in_words(tools)) if server.state is ServerState.RUNNING else ""
    text = tr("Signed in to {name}{runs}.", name=args.name, runs=runs)
    answer(args, as_json(server) | ({} if tools is None else {"tool_count": tools}), text)
    for notice in notices:
        if tr("the sign-in to '{name}'", name=args.name) in notice.title:
            print_note(problem_line(notice))
    return 0


def _pasted() -> str:
    """Reads the address, which is not an argument because it has a code in it: other programs and the shell's history must not see it."""
    if is_person_there():
        print(tr("Address shown by the browser: "), end="", file=sys.stderr, flush=True)
    address = sys.stdin.readline().strip() if sys.stdin is not None else ""
    if not address:
        raise TooltrayError(
            tr("No address"), tr("Standard input is empty"), tr("Paste the whole address from the browser, or send it through a pipe")
        )
    return address


def _show_page(page: SignInSnapshot, args: argparse.Namespace) -> None:
    """Shows the page; with `--json` on standard error, as standard output is only for JSON."""
    out = sys.stderr if args.json else sys.stdout
    is_opened = not args.no_browser and _open(page.url)
    print(tr("Sign in with the browser, which opens now. Its address:") if is_opened else tr("Open this address in a browser:"), file=out)
    print(clean_line(page.url), file=out, flush=True)
    if not is_opened:
        print_note(tr("If the browser is on another computer, run: tooltray servers sign-in {name} --paste", name=args.name))


def _open(url: str) -> bool:
    """Opens the page; returns whether a browser opens. Text browsers in the terminal are not used, as sign-in pages need more."""
    if sys.platform not in ("win32", "darwin") and not any(os.environ.get(name) for name in _DISPLAYS):
        return False
    import webbrowser  # knows all browsers

    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False


def _finish(hub: RunningHub, home: Home, name: str, address: str | None) -> None:
    """Waits for the sign-in; Ctrl-C cancels it."""
    try:
        hub.ask(hub.api.sign_ins.finish_sign_in(name=name, callback_url=address), timeout_s=FINISH_TIMEOUT_S)
    except KeyboardInterrupt:
        with contextlib.suppress(TooltrayError):
            if other := running_hub(home):
                with other:
                    other.ask(other.api.sign_ins.cancel_sign_in(name=name))
        raise


def _started_signed_in(hub: RunningHub, name: str) -> tuple[ServerSnapshot, int | None]:
    """Starts the server unless it is disabled; returns its snapshot, and how many tools it has, if it has listed them."""
    server = present_server(hub, name)
    if server.is_disabled:
        return server, server.tool_count if server.is_listed else None
    tools = tools_once_started(hub, name)
    return present_server(hub, name), tools
