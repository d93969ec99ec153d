"""`tooltray trust ...`: a person's consent to servers of a project's own file.

Consent needs a terminal for input and output, as for tool calls: an AI client that starts the command itself must not trust its own changes
of a project.
"""

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from tooltray.cli import values
from tooltray.cli.arguments import Usage
from tooltray.cli.hubs import Hub, any_hub, folder_path
from tooltray.cli.person import YES, check_terminal, typed_answer
from tooltray.cli.server_commands.confine_command import confinement_words
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, answer_list, clean, clean_line, count, day, print_json
from tooltray.foundation.errors import NotFound
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest

FILE_NAME = ".mcp.json"
QUESTION = Phrase("Let this server run?")
VARIABLE_STATES = {
    "set": Phrase("set now"),
    "default": Phrase("not set: its default is used"),
    "missing": Phrase("not set: required to start"),
}
NOTHING_WAITS = Phrase("Nothing is waiting for approval")


def declare(parser: Usage) -> None:
    parser.runs(trust, check=_check)
    parser.usage = "tooltray trust [DIR [ENTRY ...]] | list | remove DIR [ENTRY] | decline NAME"
    what = tr("a project's folder, and optionally names in its file; without it: everything that waits (for a folder called list: ./list)")
    parser.takes("words", "DIR", what, nargs="*", type=values.some_text)


def _check(usage: Usage, args: argparse.Namespace) -> None:
    if not args.words:
        return
    if args.words[0] == "decline" and len(args.words) != 2:
        usage.error(tr("decline needs the NAME of a program's proposal; for a folder called decline: ./decline"))
    if args.words == ["remove"] or (args.words[0] == "remove" and len(args.words) > 3):
        usage.error(tr("remove needs DIR, and optionally ENTRY; for a folder called remove: ./remove"))
    if args.words[0] == "list" and len(args.words) > 1:
        usage.error(tr("list takes no arguments; for a folder called list: ./list"))


def trust(args: argparse.Namespace, home: Home) -> int:
    """Lists trusted entries, revokes trust, declines a proposal, or asks about a folder; the words decide which."""
    words: Sequence[str] = args.words
    if words[:1] == ["decline"]:
        return _decline(args, home, words[1])
    if words == ["list"]:
        return _list(args, home)
    if words[:1] == ["remove"] and len(words) > 1:
        return _remove(args, home, words[1], words[2] if len(words) > 2 else "")
    if not args.json:
        check_terminal(tr("Allowing a project's servers"))
    folder, entries = folder_path(words[0]) if words else "", words[1:]
    with any_hub(home) as hub:
        requests = _wanted(hub, folder, entries)
        if args.json:
            print_json(requests)
            return 0
        is_whole = bool(entries) or not folder or _tell_unusable(folder) == 0
        code = _ask(hub, requests, folder)
    return code if is_whole else 1


def _list(args: argparse.Namespace, home: Home) -> int:
    with any_hub(home) as hub:
        trusted = hub.ask(hub.api.files.get_trusted_entries())
    empty = tr("No project's servers are trusted. Review a project's servers: tooltray trust DIR")
    return answer_list(args, trusted, (tr("ENTRY"), tr("SERVER"), tr("SINCE"), tr("PROJECT")), _trusted_row, empty=empty)


def _trusted_row(trusted: TrustedEntry) -> tuple[str, ...]:
    since = day(trusted.trusted_at) + (tr(" (written by Tooltray)") if trusted.is_own else "")
    return trusted.entry, trusted.server, since, trusted.project


def _decline(args: argparse.Namespace, home: Home, name: str) -> int:
    """Declines a proposal; needs no terminal, since it allows nothing."""
    with any_hub(home) as hub:
        hub.ask(hub.api.files.distrust_entries(project="", entry=name))
    declined = tr("Declined. The program's proposal '{name}' is removed.", name=clean_line(name))
    return answer(args, {"name": name, "declined": True}, declined)


def _remove(args: argparse.Namespace, home: Home, folder: str, entry: str) -> int:
    path = folder_path(folder)
    with any_hub(home) as hub:
        hub.ask(hub.api.files.distrust_entries(project=path, entry=entry))
    where = clean_line(path)
    if entry:
        removed = tr("{entry} of {folder} is no longer trusted.", entry=clean_line(entry), folder=where)
    else:
        removed = tr("Nothing of {folder} is trusted.", folder=where)
    return answer(args, {"project": path, "entry": entry, "trusted": False}, removed)


def _wanted(hub: Hub, folder: str, entries: Sequence[str]) -> list[TrustRequest]:
    """
    Raises:
        NotFound: one of the entries does not wait.
    """
    requests = hub.ask(hub.api.files.get_trust_requests(project=folder))
    waiting = [request.entry for request in requests]
    if missing := next((entry for entry in entries if entry not in waiting), None):
        there = (
            tr("waiting: {clean_line}", clean_line=", ".join(map(clean_line, waiting)))
            if waiting
            else NOTHING_WAITS[0].lower() + NOTHING_WAITS[1:]
        )
        raise NotFound(
            tr("'{missing}' is not waiting for approval", missing=clean_line(missing)),
            there,
            tr("See what is trusted: tooltray trust list"),
        )
    return [request for request in requests if not entries or request.entry in entries]


def _tell_unusable(folder: str) -> int:
    """Prints the problems of unusable entries, which need no consent; returns how many."""
    from tooltray.config.foreign_configs.reading import read_file  # importing it takes longer than the rest of this command

    problems = read_file(Path(folder, FILE_NAME), "mcp.json").problems
    for each in problems:
        print(clean_line(str(each.problem)))
    return len(problems)


def _ask(hub: Hub, requests: Sequence[TrustRequest], folder: str) -> int:
    path = os.path.join(folder, FILE_NAME)
    if not requests and not folder:
        print(f"{NOTHING_WAITS}.")
        return 0
    if not requests:
        print(
            clean_line(
                tr("{nothing_waits} in {folder}.", nothing_waits=NOTHING_WAITS, folder=folder)
                if os.path.lexists(path)
                else tr("No {file_name} in {folder}.", file_name=FILE_NAME, folder=folder)
            )
        )
        return 0
    whose = tr(" of {file}", file=clean_line(requests[0].file)) if folder else ""
    print(tr("{count}{whose} can run only after your approval.", count=count(len(requests), "server"), whose=whose))
    trusted = 0
    for request in requests:
        _print_request(request)
        if typed_answer(QUESTION) not in YES:
            print(_not_trusted(request))
            continue
        _trust(hub, request)
        trusted += 1
    if trusted and folder:
        for_all = f"tooltray serve --project {shlex.quote(folder)}"
        print(
            "\n"
            + clean_line(
                tr(
                    "What you trust runs for AI clients that work in {folder}. For all AI clients: {for_all}",
                    folder=folder,
                    for_all=for_all,
                )
            )
        )
    return 0 if trusted == len(requests) else 1


def _trust(hub: Hub, request: TrustRequest) -> None:
    """
    Raises:
        TooltrayError: the entry has changed meanwhile, or the consent cannot be stored.
    """
    [server] = hub.ask(hub.api.files.trust_entries(project=request.project, entries={request.entry: request.digest}))
    taken_back = f"tooltray trust remove {shlex.quote(request.project)} {shlex.quote(request.entry)}"
    if not request.project:
        taken_back = f"tooltray servers remove {shlex.quote(server)}"
    print(clean_line(tr("Trusted as '{server}'. To revoke that: {taken_back}", server=server, taken_back=taken_back)))


def _not_trusted(request: TrustRequest) -> str:
    if request.project:
        return tr("It does not run.")
    went_on = tr("It keeps running unchanged, and the change") if request.is_change else tr("It does not run, and")
    return clean_line(
        tr("{went_on} still waits. To decline it: tooltray trust decline {entry}", went_on=went_on, entry=shlex.quote(request.entry))
    )


def _print_request(request: TrustRequest) -> None:
    print()
    line = tr(" (line {line})", line=request.line) if request.line else ""
    print(clean_line(request.entry + line + (tr(": changed since you approved it") if request.is_change else "")))
    for title, value in _facts(request):
        print(f"  {title}: {clean_line(value)}")
    for warning in request.warnings:
        print(tr("  Warning: {warning}", warning=clean_line(warning)))
    if request.diff:
        print(tr("  What has changed:"))
    for text in request.diff:
        print("    " + clean(text).replace("\n", " "))


def _environment(request: TrustRequest) -> str:
    if request.confinement and request.confinement.files != "open":
        return tr("none by name; of your environment, only paths, language and proxies")
    return tr("none by name; like every program you start, it sees your environment")


def _variables(request: TrustRequest) -> Sequence[str]:
    """Lists the variables, each with its state, if the hub sends it."""
    names, states = request.variables, request.variable_states
    return [f"{name} ({VARIABLE_STATES[state]})" for name, state in zip(names, states, strict=True)] if states else names


def _facts(request: TrustRequest) -> list[tuple[str, str]]:
    is_process = bool(request.command)
    facts = [(tr("Asked for by the program"), request.asked_by)] if request.asked_by else []
    facts.append((tr("It would run") if is_process else tr("It would connect to"), request.target))
    facts += [(tr("in the folder"), request.cwd)] if is_process else [(tr("at the host"), request.host)]
    facts += [(tr("project files that your approval also covers"), ", ".join(request.files))] if request.files else []
    if request.is_inside:
        facts.append(
            (
                tr("which lies in"),
                tr("the project itself: anyone who changes the project changes what runs ({project})", project=request.project),
            )
        )
    facts.append((tr("Your secrets that it would get"), ", ".join(request.secrets) or "none"))
    nothing = _environment(request) if is_process else "none"
    facts.append((tr("Your variables that it would get"), ", ".join(_variables(request)) or nothing))
    facts += [(tr("With the variable"), each) for each in request.env]
    facts += [(tr("With the header"), each) for each in request.headers]
    facts += [(tr("Other fields"), each) for each in request.others]
    facts += [(tr("Sandbox"), confinement_words(request.confinement))] if request.confinement else []
    facts.append((tr("Calls that would run without asking"), ", ".join(request.auto_approve) or "none"))
    return facts
