"""`tooltray status`, `reload` and `stop`: shows the state of the running hub, makes it read its files, or ends it.

These commands never start a hub; `status` reports that none runs as a result, not as an error.
"""

import argparse
import contextlib
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence

from tooltray import __version__
from tooltray.cli.hubs import Hub, HubInfo, RunningHub, running_hub
from tooltray.cli.speech import in_one_line, tr
from tooltray.cli.terminal import (
    answer,
    clean_line,
    count,
    needs_sign_in,
    print_json,
    print_note,
    print_table,
    problem_line,
    state_in_words,
)
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.installation import age_of_version
from tooltray.foundation.phrases import Phrase, as_json
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.setup import ReloadChange, ServerFileSnapshot

STATUS_WITHIN_S = 1.2  # including the start of the command, which answers within 2 s for a stopped hub
READ_TIMEOUT_S = 60.0  # a file that is half written is read again; one on a slow disk takes its time
NOT_RUNNING = 3  # the exit code of `status`, as init scripts have it (Linux Standard Base, "Init Script Actions")
KEPT, WAITING = "keep", "wait"
_CHANGES: Mapping[str, tuple[str, str]] = {
    "add": (Phrase("would be added"), "added"),
    "restart": (Phrase("would be restarted"), "restarted"),
    "change": (Phrase("would be changed as it runs"), Phrase("changed as it runs")),
    "remove": (Phrase("would be removed"), "removed"),
    "setting": (Phrase("would be set"), "set"),
    WAITING: (Phrase("would wait for approval"), Phrase("waits for approval")),
    KEPT: (Phrase("would stay as it is"), Phrase("stays as it is")),
}
_WAITS = ("waits", "changed")
_IN_TROUBLE = (ServerState.ERROR, ServerState.RESTARTING)


def stop(args: argparse.Namespace, home: Home) -> int:
    """Ends the hub and waits until its process has ended; not an error if none runs."""
    hub = running_hub(home)
    if hub is None:
        return answer(args, {"stopped": False, "reason": "not running"}, tr("Tooltray is not running ({root}).", root=home.root))
    with hub:
        pid = hub.stop()
    return answer(args, {"stopped": True, "pid": pid}, tr("Tooltray has stopped (pid {pid}).", pid=pid))


def status(args: argparse.Namespace, home: Home) -> int:
    hub = running_hub(home)
    if hub is None:
        answer(args, {"running": False, "home": str(home.root)}, tr("Tooltray is not running ({root}).", root=home.root))
        return NOT_RUNNING
    with hub:
        info = hub.info(timeout_s=STATUS_WITHIN_S)
        snapshot = hub.ask(hub.api.hub.get_snapshot())
        files, listing = _files(hub), listing_line(hub)
    found = {"running": True, "home": str(home.root)} | as_json(snapshot) | as_json(info)
    return answer(args, found, *_hub_lines(info, snapshot, home), *filter(None, [listing]), *map(clean_line, _file_lines(files)))


def listing_line(hub: Hub) -> str:
    """Describes which tools AI clients without a setting of their own get, and how to change it; empty if no tools are known yet."""
    with contextlib.suppress(TooltrayError):  # the hub has ended; the report in progress is more important
        for each in hub.ask(hub.api.views.get_client_modes()):
            if not each.client and each.summary:
                return tr("{summary} Change it with: tooltray clients mode '*' MODE", summary=each.summary)
    return ""


def _files(hub: RunningHub) -> list[ServerFileSnapshot]:
    try:
        return hub.ask(hub.api.files.get_server_files())
    except TooltrayError:  # an older hub has only the settings
        return []


def _file_lines(files: Sequence[ServerFileSnapshot]) -> Iterator[str]:
    """Yields the servers of projects' own files that wait for consent, and how to consent."""
    for file in files:
        if names := [entry.name for entry in file.entries if entry.state in _WAITS]:
            waiting = tr(
                "{count} of {path} can run only after your approval: {names}.",
                count=count(len(names), "server"),
                path=file.path,
                names=", ".join(names),
            )
            yield tr("{waiting} Look with: tooltray trust {project}", waiting=waiting, project=shlex.quote(file.project))


def _hub_lines(info: HubInfo, snapshot: HubSnapshot, home: Home) -> Iterator[str]:
    servers = [server for server in snapshot.servers if server.origin != "hub"]  # those that a person has added
    running = sum(server.state is ServerState.RUNNING for server in servers)
    tools = count(sum(server.tool_count for server in servers), "tool")
    if unlisted := sum(not server.is_listed for server in servers):
        tools = tr("{tools}, not counting {servers} that have not started yet", tools=tools, servers=count(unlisted, "server"))
    yield tr(
        "Tooltray {version} is running ({kind}, pid {pid}) in {root}.", version=info.version, kind=info.kind, pid=info.pid, root=home.root
    )
    if age_of_version(info.version) < age_of_version(__version__):  # of another installation, which starts it for AI clients
        yield tr("This command is of version {version}, which takes over with: tooltray serve --replace", version=__version__)
    yield tr(
        "Up for {time}; {clients} connected.", time=_time_since(snapshot.started_at), clients=count(snapshot.session_count, "AI client")
    )
    yield tr("{count}, {running} running; {count2}.", count=count(len(servers), "server"), running=running, count2=tools)
    yield from map(clean_line, _release_lines(snapshot))
    if snapshot.is_paused:
        yield tr("Paused: tools are listed, calls are refused.")
    for server in snapshot.servers:
        yield from (clean_line(f"{server.name}: {line}") for line in _server_lines(server))
    if lazy := [server.name for server in servers if server.is_lazy]:
        yield clean_line(tr("Tools load when used: {lazy}", lazy=", ".join(lazy)))
    yield from map(problem_line, snapshot.notices)


def _release_lines(snapshot: HubSnapshot) -> Iterator[str]:
    """Yields that the running version was withdrawn, and which newer one is available."""
    release = snapshot.release
    if release.withdrawn:
        yield tr("Tooltray {version} was withdrawn: {reason}", version=snapshot.version, reason=release.withdrawn)
    if release.version:
        yield tr("Tooltray {version} is available. {update}", version=release.version, update=release.update)


def _server_lines(server: ServerSnapshot) -> Iterator[str]:
    """Yields what the user should know about a server."""
    if server.waiting:
        what = tr("a change waits") if server.origin != "proposal" else tr("it waits")
        yield tr("{what} for your approval. Review it: tooltray trust", what=what)
    if server.origin == "proposal":
        return
    if server.state in _IN_TROUBLE or (server.problem and server.state is ServerState.RUNNING):  # running: a list is not fully offered
        yield in_one_line(server.state.value, problem_line(server.problem))
    elif server.state is ServerState.NEEDS_SIGN_IN:
        yield needs_sign_in(server.name)
    elif server.state is ServerState.WAITING:
        yield in_one_line(state_in_words(server.state.value), server.detail)


def _time_since(moment: float) -> str:
    seconds = max(int(time.time() - moment), 0)
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return count(seconds // size, noun)
    return count(seconds, "second")


def reload(args: argparse.Namespace, home: Home) -> int:
    """Makes the hub read its files again, or shows what that would do. The exit code is 1 if a file is not understood."""
    hub = running_hub(home)
    if hub is None:
        line = tr("Tooltray is not running ({root}); it reads its files when it starts.", root=home.root)
        return answer(args, {"running": False, "dry_run": args.dry_run, "changes": []}, line)
    with hub:
        files = hub.api.files
        changes = hub.ask(files.preview_reload() if args.dry_run else files.reload(), timeout_s=READ_TIMEOUT_S)
    if args.json:
        print_json({"running": True, "dry_run": args.dry_run, "changes": changes})
    else:
        _print_changes(changes, is_done=not args.dry_run)
    return 1 if any(change.kind == KEPT for change in changes) else 0


def _print_changes(changes: Sequence[ReloadChange], *, is_done: bool) -> None:
    if not changes:
        print(tr("No changes."))
        return
    rows = [(change.name or "-", _change_word(change.kind, is_done), change.detail, change.file) for change in changes]
    print_table((tr("NAME"), tr("WHAT"), tr("DETAIL"), tr("FILE")), rows)
    for folder in dict.fromkeys(os.path.dirname(change.file) for change in changes if change.kind == WAITING):
        print_note(tr("Review and allow what waits: tooltray trust {folder}", folder=shlex.quote(folder)))


def _change_word(kind: str, is_done: bool) -> str:
    return _CHANGES[kind][is_done] if kind in _CHANGES else kind  # of a newer hub
