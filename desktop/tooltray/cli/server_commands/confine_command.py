"""`tooltray servers confine` and `watch`: the files and hosts that a server's process may reach.

Watching runs a server unconfined for a while, and proposes the tightest profile that would allow everything that the server did.
"""

import argparse
import time
from collections.abc import Sequence
from typing import Literal

from tooltray.cli.hubs import RunningHub, any_hub, started_hub
from tooltray.cli.person import confirmed, is_person_there
from tooltray.cli.server_commands.servers_command import START_TIMEOUT_S, note_start
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, clean_line, print_note
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.confinement import (
    ConfinementSnapshot,
    RefusedThing,
    WatchProposal,
    WatchSnapshot,
    in_words,
    proposal_in_words,
)

NONE = "none"  # removes all named files or hosts


def confine(args: argparse.Namespace, home: Home) -> int:
    """Changes a server's confinement; without any change, shows it."""
    with any_hub(home) as hub:
        api = hub.api.confinement
        now = hub.ask(api.get_confinement(server=args.name))
        if any((args.files, args.network, args.hosts, args.read, args.write)):
            given = {name: _named(getattr(args, name), getattr(now, name)) for name in ("hosts", "read", "write")}
            files, network = args.files or now.files, args.network or ("hosts" if args.hosts and given["hosts"] else now.network)
            now = hub.ask(api.set_confinement(server=args.name, files=files, network=network, **given))
        if args.allow:
            kind: Literal["host", "path"] = "path" if args.allow.startswith("/") else "host"
            now = hub.ask(api.allow_refused(server=args.name, kind=kind, name=args.allow))
    return answer(args, now, "\n".join(_lines(args.name, now)))


def confinement_words(confinement: ConfinementSnapshot) -> str:
    """Describes a server's confinement in one line."""
    if confinement.is_in_vain:
        return tr("not sandboxed: not supported on this system")
    if confinement.files == confinement.network == "open":
        return tr("not sandboxed: can do anything you can")
    files = {"own": tr("sandboxed"), "read": tr("read only")}.get(confinement.files) or tr("all files")
    hosts = tr("only these hosts: {hosts}", hosts=", ".join(confinement.hosts) or "-")
    network = {"none": tr("no network"), "hosts": hosts}.get(confinement.network) or tr("full network")
    return tr("{files}, {network}", files=files, network=network)


def _named(given: Sequence[str], before: Sequence[str]) -> list[str]:
    return [] if given == [NONE] else list(given or before)


def confinement_lines(now: ConfinementSnapshot) -> list[str]:
    """Describes a server's confinement in full: its state, the named files and hosts, missing support of this computer, and refused
    access.
    """
    lines = [confinement_words(now)]
    if now.files == "open":
        lines += [tr("  when sandboxed again: {path}", path=clean_line(path)) for path in (*now.read, *now.write)]
    else:
        lines += [tr("  may read {path}", path=clean_line(path)) for path in now.read]
        lines += [tr("  may change {path}", path=clean_line(path)) for path in now.write]
    if now.network != "hosts":
        lines += [tr("  when limited to hosts again: {host}", host=clean_line(host)) for host in now.hosts]
    lines += [f"  {say(sentence)}" for sentence in now.missing]
    return lines + [_refused_line(thing) for thing in now.refused]


def _lines(name: str, now: ConfinementSnapshot) -> list[str]:
    first, *rest = confinement_lines(now)
    return [tr("{name}: {words}", name=clean_line(name), words=first), *rest]


def _refused_line(thing: RefusedThing) -> str:
    if not thing.name:
        return tr("  something was refused")
    name = clean_line(thing.name)
    return tr("  may not change {name}", name=name) if thing.is_write else tr("  may not access {name}", name=name)


LOOK_EVERY_S = 0.5
LEAST_S = 0.05  # seconds between polls while no time is left and the server is restarted
MOST_REFUSED = 20  # lines; the window shows more


def watch(args: argparse.Namespace, home: Home) -> int:
    """Watches a server, shows the proposal, and asks whether to use it."""
    with started_hub(home) as hub:
        note_start(args.name)
        hub.ask(hub.api.confinement.watch_server(server=args.name, duration_s=args.duration_s), timeout_s=START_TIMEOUT_S)
        print_note(tr("{name} runs without a sandbox now. Use its tools as usual; Ctrl-C ends this early.", name=args.name))
        found = _watched(hub, args.name)
        if found.proposal is None:
            return answer(args, found, found.problem or tr("{name} did nothing that was recorded.", name=args.name)) or 1
        answer(args, found, "\n".join(_proposal_lines(found.proposal)))
        is_used = args.yes or (not args.json and is_person_there() and confirmed(tr("Use this?"), yes=False))
        if is_used:
            hub.ask(hub.api.confinement.apply_proposal(server=args.name), timeout_s=START_TIMEOUT_S)
            print_note(tr("{name} is sandboxed like this from now on.", name=args.name))
    return 0


def _watched(hub: RunningHub, name: str) -> WatchSnapshot:
    """Waits until the time is over, or Ctrl-C."""
    verbs = hub.api.confinement
    try:
        while (found := hub.ask(verbs.get_watch(server=name), timeout_s=START_TIMEOUT_S)).state == "watching":
            time.sleep(min(LOOK_EVERY_S, max(found.left_s, LEAST_S)))
    except KeyboardInterrupt:
        found = hub.ask(verbs.stop_watching(server=name), timeout_s=START_TIMEOUT_S)
    return found


def _proposal_lines(proposal: WatchProposal) -> list[str]:
    lines = [tr("Proposed:"), *(f"  {clean_line(say(each))}" for each in proposal_in_words(proposal))]
    if proposal.refused:
        lines.append(tr("It would have refused {count} of the observed accesses:", count=proposal.refused_count))
        lines += [f"  {clean_line(say(in_words(each)))}" for each in proposal.refused[:MOST_REFUSED]]
    return lines
