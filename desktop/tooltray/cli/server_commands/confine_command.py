"""`tooltray servers confine`: the files and hosts that a server's process may reach."""

import argparse
from collections.abc import Sequence
from typing import Literal

from tooltray.cli.hubs import any_hub
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, clean_line
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, RefusedThing

NONE = "none"  # removes all named files or hosts


def confine(args: argparse.Namespace, home: Home) -> int:
    """Changes a server's confinement; without any change, shows it."""
    with any_hub(home) as hub:
        api = hub.api.confinement
        now = hub.ask(api.get_confinement(server=args.name))
        if _changes(args):
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
        return tr("not confined: this system cannot do it")
    if confinement.files == confinement.network == "open":
        return tr("open: it can do all that you can")
    files = {"own": tr("own files"), "read": tr("read only")}.get(confinement.files) or tr("all files")
    hosts = tr("only these hosts: {hosts}", hosts=", ".join(confinement.hosts) or "-")
    network = {"none": tr("no network"), "hosts": hosts}.get(confinement.network) or tr("all of the network")
    return tr("{files}, {network}", files=files, network=network)


def _named(given: Sequence[str], before: Sequence[str]) -> list[str]:
    return [] if given == [NONE] else list(given or before)


def _changes(args: argparse.Namespace) -> bool:
    return any((args.files, args.network, args.hosts, args.read, args.write))


def confinement_lines(now: ConfinementSnapshot) -> list[str]:
    """Describes a server's confinement in full: its state, the named files and hosts, missing support of this computer, and refused
    access.
    """
    lines = [confinement_words(now)]
    if now.files == "open":
        lines += [tr("  for when its files are confined again: {path}", path=clean_line(path)) for path in (*now.read, *now.write)]
    else:
        lines += [tr("  may read {path}", path=clean_line(path)) for path in now.read]
        lines += [tr("  may change {path}", path=clean_line(path)) for path in now.write]
    if now.network != "hosts":
        lines += [tr("  for when it is kept to hosts again: {host}", host=clean_line(host)) for host in now.hosts]
    lines += [f"  {say(sentence)}" for sentence in now.missing]
    return lines + [_refused_line(thing) for thing in now.refused]


def _lines(name: str, now: ConfinementSnapshot) -> list[str]:
    first, *rest = confinement_lines(now)
    return [tr("{name}: {words}", name=clean_line(name), words=first), *rest]


def _refused_line(thing: RefusedThing) -> str:
    if not thing.name:
        return tr("  something was refused")
    name = clean_line(thing.name)
    return tr("  was kept from changing {name}", name=name) if thing.is_write else tr("  was kept from {name}", name=name)
