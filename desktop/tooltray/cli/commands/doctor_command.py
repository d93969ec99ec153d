"""`tooltray doctor`: diagnoses the hub and its servers: facts, problems and remedies. A hub, started if none runs, diagnoses the servers.
Everything else is checked without a hub, since the doctor has to work when a hub cannot start.
"""

import argparse
import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tooltray.cli import values
from tooltray.cli.arguments import Usage
from tooltray.cli.commands.secrets_command import REMOVE, chosen_backend
from tooltray.cli.hubs import RunningHub, any_hub, started_hub
from tooltray.cli.server_commands.confine_command import confinement_lines
from tooltray.cli.server_commands.servers_command import (
    ON_ITS_WAY,
    START_TIMEOUT_S,
    note_start,
    progress_shown,
    running_in_words,
    tools_once_started,
)
from tooltray.cli.speech import in_one_line, say, tr
from tooltray.cli.terminal import answer, clean, clean_line, count, print_json, print_note, state_in_words
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.home.home import Home, default_home, hint_for, how_to_make_writable
from tooltray.foundation.snapshots.hub import EnvironmentChange, EnvironmentVariable

if TYPE_CHECKING:
    from tooltray.foundation.snapshots.diagnosis import Diagnosis, Remedy

_LABEL_COLUMNS = 14
SETTLE_TIMEOUT_S = 15.0  # a cold hub's servers need a few seconds, and one that fails is tried again for 7; a download may take longer
_ON_ITS_WAY = [state.value for state in ON_ITS_WAY]
PROBE_BYTES = 4096  # a block of most disks
_ELSEWHERE = ("http", "sse")


def declare(parser: Usage) -> None:
    parser.runs(doctor, check=_check)
    parser.takes("server", "SERVER", tr("check only this server"), nargs="?")
    parser.flag("--forget-environment", tr("forget the certificates, proxies and package indexes remembered from your terminal"))
    parser.takes("--fix", "NUMBER", tr("with SERVER: apply the fix with this number"), type=values.number)


def _check(usage: Usage, args: argparse.Namespace) -> None:
    if args.fix is not None and args.server is None:
        usage.error(tr("--fix goes with SERVER"))
    if args.forget_environment and args.server is not None:
        usage.error(tr("--forget-environment goes without SERVER"))


class Check(msgspec.Struct, frozen=True):
    """One checked thing, with the facts about it or its problem."""

    name: str
    facts: str = ""
    problem: Problem | None = None


def doctor(args: argparse.Namespace, home: Home) -> int:
    """Diagnoses one server, or everything.

    Returns:
        1 if there is a problem. A server that is still starting is not a problem.
    """
    if args.fix is not None:
        return _fix(args, home)
    if args.forget_environment:
        return _forget_environment(args, home)
    confinement: list[str] = []
    if args.server is None:
        checks, diagnoses = _look_at_everything(home)
    else:
        with started_hub(home) as hub:
            checks, diagnoses = [], _diagnose(hub, args.server)
            confinement = _confinement(hub, diagnoses[0])
    if args.json:
        print_json({"checks": checks, "servers": diagnoses})
    else:
        for check in checks:
            _print_check(check)
        for diagnosis in diagnoses:
            _print_diagnosis(diagnosis, confinement, with_facts=args.server is not None or not diagnosis.is_ok)
    is_well = all(check.problem is None for check in checks) and all(diagnosis.is_ok for diagnosis in diagnoses)
    return 0 if is_well else 1


def _fix(args: argparse.Namespace, home: Home) -> int:
    """Applies one of the remedies that were shown for a server, and waits for the outcome.

    Raises:
        TooltrayError: the remedy does not exist, it cannot be carried out, or the server does not run with it either.
    """
    with started_hub(home) as hub:
        [diagnosis] = hub.ask(hub.api.hub.diagnose(server=args.server), timeout_s=START_TIMEOUT_S)
        remedies = [remedy for remedy in diagnosis.remedies if remedy.is_automatic]
        if not args.fix <= len(remedies):
            hint = tr("List the fixes: tooltray doctor {server}", server=shlex.quote(args.server))
            raise TooltrayError(tr("Fix {fix} not found for '{server}'", fix=args.fix, server=args.server), hint=hint)
        remedy = remedies[args.fix - 1]
        applying = hub.api.setup.apply_remedy(server=args.server, kind=remedy.kind, value=remedy.value)
        done = hub.ask(applying, timeout_s=START_TIMEOUT_S)
        answer(args, {"done": done, "remedy": remedy}, clean_line(f"{done}."))
        sys.stdout.flush()  # the start may take long
        note_start(args.server)
        with progress_shown(home, args.server):
            tools = tools_once_started(hub, args.server)
    if not args.json:
        print(f"{args.server} {running_in_words(tools)}.")
    return 0


def _forget_environment(args: argparse.Namespace, home: Home) -> int:
    with any_hub(home) as hub:
        hub.ask(hub.api.hub.forget_environment())
    return answer(args, {"forgotten": True}, tr("Your terminal's environment is forgotten."))


def _look_at_everything(home: Home) -> tuple[list[Check], "list[Diagnosis]"]:
    checks, diagnoses = [_check_home(home)], []
    try:
        with started_hub(home) as hub:
            info = hub.info()
            checks.append(
                Check(
                    "tooltray", tr("version {version} is running ({kind}, pid {pid})", version=info.version, kind=info.kind, pid=info.pid)
                )
            )
            checks.extend(_checks_of_hub(hub, home))
            diagnoses = _diagnose(hub, None)
    except TooltrayError as error:
        checks.append(Check("tooltray", problem=error.problem))
    return [*checks, _check_bridge(home)], diagnoses


def _diagnose(hub: RunningHub, server: str | None) -> "list[Diagnosis]":
    """Returns the diagnoses once no server is starting any more, or after `SETTLE_TIMEOUT_S`."""
    if sys.stderr.isatty():
        print_note(tr("Checking the servers ..."))
    return hub.ask(hub.api.hub.diagnose(server=server, wait_s=SETTLE_TIMEOUT_S), timeout_s=START_TIMEOUT_S)


def _confinement(hub: RunningHub, diagnosis: "Diagnosis") -> list[str]:
    """Describes how a server's process is sandboxed, and what it was refused; empty for a remote server, or a server that is not in the
    settings.
    """
    if diagnosis.transport != "stdio":
        return []
    try:
        now = hub.ask(hub.api.confinement.get_confinement(server=diagnosis.server))
    except TooltrayError:
        return []
    return confinement_lines(now)


def _check_home(home: Home) -> Check:
    try:
        misplaced = home.prepare()
    except TooltrayError as error:
        return Check("home", problem=error.problem)
    if misplaced:
        return Check("home", problem=misplaced[0])
    try:
        _write_something(home.root)
    except OSError as error:
        hint = hint_for(error, tr("Make it writable: {root}", root=how_to_make_writable(home.root)))
        return Check("home", problem=Problem(tr("Tooltray's folder cannot be written to"), f"{home.root}: {error.strerror}", hint))
    return Check("home", str(home.root))


def _write_something(folder: Path) -> None:
    """Writes a file and deletes it at once: a full disk or a quota allows creating a folder, but not writing data."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(PROBE_BYTES))
        file.flush()
        os.fsync(file.fileno())


def _checks_of_hub(hub: RunningHub, home: Home) -> Iterator[Check]:
    notices = hub.ask(hub.api.hub.get_snapshot()).notices
    for notice in notices:
        yield Check("settings", problem=notice)
    if not notices:
        yield Check("settings", str(home.settings))
    with contextlib.suppress(TooltrayError):  # an older hub does not know it
        yield _check_environment(hub)
    yield _check_secrets(hub, home)
    with contextlib.suppress(TooltrayError):  # the check of the secrets has reported why
        if unused := hub.ask(hub.api.secrets.get_unused_secrets(), timeout_s=START_TIMEOUT_S):
            yield Check(
                tr("unused secrets"), tr("no server uses {unused}; to forget them: {remove}", unused=", ".join(unused), remove=REMOVE)
            )


def _check_environment(hub: RunningHub) -> Check:
    """Checks certificates, proxies and package indexes: the values that servers get, and changes since a server last worked."""
    environment = hub.ask(hub.api.hub.get_environment(), timeout_s=START_TIMEOUT_S)
    lines = [_variable_line(each) for each in environment.variables]
    lines += [_change_line(each) for each in environment.changes]
    if any(each.origin == "remembered" for each in environment.variables):
        lines.append(tr("to forget what is remembered: tooltray doctor --forget-environment"))
    return Check("environment", "\n".join(lines) or tr("no certificates, proxies or package indexes of your own"))


def _variable_line(variable: EnvironmentVariable) -> str:
    since = tr(" since {since}", since=variable.since) if variable.since else ""
    origin = say(variable.origin)
    if not variable.is_used:
        origin = tr("{origin}{since}, not used: its file is gone", origin=origin, since=since)
    return f"{variable.name}={variable.value} ({origin}{since if variable.is_used else ''})"


def _change_line(change: EnvironmentChange) -> str:
    was = f"{change.name}={change.was}" if change.was else change.name
    return tr("{server} last worked with {was}; now it is {value}", server=change.server, was=was, value=change.now or tr("missing"))


def _check_secrets(hub: RunningHub, home: Home) -> Check:
    place = chosen_backend(home)
    names: list[str] = []
    try:
        names = hub.ask(hub.api.secrets.get_secret_names(), timeout_s=START_TIMEOUT_S)
        hub.ask(hub.api.secrets.check_secrets(), timeout_s=START_TIMEOUT_S)
    except TooltrayError as error:
        if names or place:
            return Check(tr("secrets ({value})", value=place or "keyring"), problem=error.problem)
        text = tr("none stored, and no place chosen for them ({title}; see `tooltray secrets backend`)", title=say(error.problem.title))
        return Check("secrets", text)
    return Check("secrets", f"{place or 'keyring'}, {count(len(names), 'secret')}")


def _check_bridge(home: Home) -> Check:
    """Checks the program that AI clients start, and writes it again if it is wrong."""
    from tooltray.foundation.installs.installations import Installations, bridge_entry

    installations = Installations(default_home() or home)
    try:
        mended = tr("\nit was not as it should be, and has been rewritten") if installations.mend() else ""
    except TooltrayError as error:
        return Check("bridge", problem=error.problem)
    entry = bridge_entry(home)["mcpServers"]["tooltray"]
    words = [entry["command"], *entry["args"]]
    missing = [word for word in words if os.path.isabs(word) and not os.path.exists(word)]
    if missing:
        hint = tr("Install Tooltray again, then paste the entry that `tooltray serve` prints into the AI client")
        return Check("bridge", problem=Problem(tr("The program that AI clients start is missing"), ", ".join(missing), hint))
    owner = f" ({installations.owner.words})" if installations.owner else ""
    return Check("bridge", f"{' '.join(words)}{owner}{mended}")


def _print_check(check: Check) -> None:
    if check.problem is None:
        first, *rest = check.facts.split("\n")
        print(clean_line(tr("ok: {name}: {first}", name=check.name, first=first)))
        for line in rest:
            print(f"    {clean_line(line)}")
        return
    print(clean_line(tr("PROBLEM: {name}: {title}", name=check.name, title=say(check.problem.title))))
    _print_fact("details", check.problem.message)
    _print_fact(tr("how to fix it"), check.problem.hint)


def _print_diagnosis(diagnosis: "Diagnosis", confinement: Sequence[str], *, with_facts: bool) -> None:
    problem = diagnosis.problem
    state = state_in_words(diagnosis.state)
    if diagnosis.is_ok and state in _ON_ITS_WAY:
        summary = tr("not yet: {server}: {diagnosis}", server=diagnosis.server, diagnosis=_now(diagnosis))
    elif diagnosis.is_ok:
        summary = tr("ok: {server}: {state}, {diagnosis}", server=diagnosis.server, state=state, diagnosis=_tools_of(diagnosis))
    else:
        summary = tr("PROBLEM: {server}: {value}", server=diagnosis.server, value=problem.title if problem else state)
    print(clean_line(summary))
    if with_facts:
        _print_facts(diagnosis, confinement)


def _print_facts(diagnosis: "Diagnosis", confinement: Sequence[str]) -> None:
    if diagnosis.state == "waiting" or (diagnosis.state in _ON_ITS_WAY and not diagnosis.is_ok):
        _print_fact("now", _now(diagnosis))
    _print_fact("remark", diagnosis.remark)
    _print_fact("projects", "\n".join(diagnosis.projects))
    if diagnosis.transport in _ELSEWHERE:
        _print_fact("URL", diagnosis.target)
    _print_fact(tr("command"), " ".join(diagnosis.command))
    _print_fact("proxy", diagnosis.proxy)
    _print_fact(tr("way to it"), diagnosis.reached)
    if diagnosis.resolved_command:
        _print_fact(tr("found at"), f"{diagnosis.resolved_command}{_spared(diagnosis.saved_processes)}")
    else:
        _print_fact(tr("not found in"), "\n".join(diagnosis.searched))
    _print_fact("PATH", diagnosis.path)
    _print_fact("folder", diagnosis.cwd)
    _print_fact(tr("variables"), "\n".join(map(say, diagnosis.variables)))
    _print_fact(tr("sandbox"), "\n".join(confinement))
    if diagnosis.exit_code is not None:
        _print_fact(tr("exit code"), str(diagnosis.exit_code))
    if diagnosis.noise_lines:
        _print_fact("noise", tr("{count} on its standard output that no MCP client can read", count=count(diagnosis.noise_lines, "line")))
    _print_fact(tr("last stderr"), "\n".join(diagnosis.stderr))
    _print_fact(tr("flaws"), "\n".join(diagnosis.flaws))
    _print_fact("details", diagnosis.problem.message if diagnosis.problem else "")
    _print_fact(tr("how to fix it"), "\n".join(_remedy_lines(diagnosis.server, diagnosis.remedies)))


def _now(diagnosis: "Diagnosis") -> str:
    """Describes a server that is starting."""
    return in_one_line(state_in_words(diagnosis.state), diagnosis.detail or "")


def _tools_of(diagnosis: "Diagnosis") -> str:
    number = diagnosis.tool_count
    if diagnosis.state != "waiting":
        return count(number, "tool") if diagnosis.is_listed else tr("its tools are not listed yet")
    return tr("{count} known from its last run", count=count(number, "tool")) if number else tr("its tools are listed once it has run")


def _spared(processes: int) -> str:
    if not processes:
        return ""
    if processes == 1:
        return tr(" (not run: the server is started directly, which saves 1 process)")
    return tr(" (not run: the server is started directly, which saves {count} processes)", count=processes)


def _remedy_lines(server: str, remedies: "Sequence[Remedy]") -> Iterator[str]:
    """Yields the manual remedies, then the remedies that `--fix` applies."""
    for remedy in remedies:
        if not remedy.is_automatic:
            yield f"{remedy.title}: {remedy.value}" if remedy.value else remedy.title
    automatic = [remedy for remedy in remedies if remedy.is_automatic]
    for number, remedy in enumerate(automatic, 1):
        yield tr("{title}: tooltray doctor {server} --fix {number}", title=remedy.title, server=shlex.quote(server), number=number)


def _print_fact(label: str, text: str) -> None:
    """Prints a labelled fact, further lines below the first; nothing for an empty text."""
    lines = clean(text).splitlines()
    for at, line in enumerate(lines):
        print(f"  {(label + ':' if at == 0 else ''):<{_LABEL_COLUMNS}} {line}".rstrip())
