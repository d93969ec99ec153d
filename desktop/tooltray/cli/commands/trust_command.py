"""`tooltray trust ...`: a person's consent to servers of a project's own file.

Above it: run. Below it: a hub or, where none runs, its API without one. Consent needs a terminal at both ends, as that to tool
calls does: an AI client that starts the command by itself must not trust what it has written into a project.
"""

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from tooltray.cli.hubs import Hub, any_hub, folder_path
from tooltray.cli.person import YES, check_terminal, typed_answer
from tooltray.cli.terminal import answer, answer_list, clean, clean_line, count, day, print_json
from tooltray.errors import NotFound
from tooltray.foreign_configs.reading import read_file
from tooltray.home.home import Home
from tooltray.settings.file_server import FILE_NAME
from tooltray.snapshots.trust import TrustedEntry, TrustRequest

QUESTION = "Let this server run?"
VARIABLE_STATES = {"set": "set now", "default": "not set: its default counts", "missing": "not set: it cannot start without"}
NOTHING_WAITS = "Nothing waits for a yes"


def trust(args: argparse.Namespace, home: Home) -> int:
    """Lists what is trusted, takes trust back, refuses, or asks about a folder; the words decide which."""
    words: Sequence[str] = args.words
    if words[:1] == ["refuse"]:
        return _refuse(args, home, words[1])
    if words == ["list"]:
        return _list(args, home)
    if words[:1] == ["remove"] and len(words) > 1:
        return _remove(args, home, words[1], words[2] if len(words) > 2 else "")
    if not args.json:
        check_terminal("A yes to a project's servers")
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
    empty = "No server of a project's own file is trusted. Look at what a project asks for with: tooltray trust DIR"
    return answer_list(args, trusted, ("ENTRY", "SERVER", "SINCE", "PROJECT"), _trusted_row, empty=empty)


def _trusted_row(trusted: TrustedEntry) -> tuple[str, ...]:
    since = day(trusted.trusted_at) + (" (written by Tooltray)" if trusted.is_own else "")
    return trusted.entry, trusted.server, since, trusted.project


def _refuse(args: argparse.Namespace, home: Home, name: str) -> int:
    """A refusal needs no terminal: it allows nothing."""
    with any_hub(home) as hub:
        hub.ask(hub.api.files.distrust_entries(project="", entry=name))
    refused = f"Refused. Nothing of '{clean_line(name)}' that a program has proposed waits any more."
    return answer(args, {"name": name, "refused": True}, refused)


def _remove(args: argparse.Namespace, home: Home, folder: str, entry: str) -> int:
    path = folder_path(folder)
    with any_hub(home) as hub:
        hub.ask(hub.api.files.distrust_entries(project=path, entry=entry))
    removed = f"{clean_line(entry) if entry else 'Nothing'} of {clean_line(path)} is {'no longer ' if entry else ''}trusted."
    return answer(args, {"project": path, "entry": entry, "trusted": False}, removed)


def _wanted(hub: Hub, folder: str, entries: Sequence[str]) -> list[TrustRequest]:
    """
    Raises:
        NotFound: one of the entries does not wait.
    """
    requests = hub.ask(hub.api.files.get_trust_requests(project=folder))
    waiting = [request.entry for request in requests]
    if missing := next((entry for entry in entries if entry not in waiting), None):
        there = f"there wait: {', '.join(map(clean_line, waiting))}" if waiting else NOTHING_WAITS[0].lower() + NOTHING_WAITS[1:]
        raise NotFound(f"'{clean_line(missing)}' does not wait for a yes", there, "See what is trusted: tooltray trust list")
    return [request for request in requests if not entries or request.entry in entries]


def _tell_unusable(folder: str) -> int:
    """Prints the problems of entries that cannot be used, which nobody is asked about; returns how many."""
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
        print(clean_line(f"{NOTHING_WAITS} in {folder}." if os.path.lexists(path) else f"There is no {FILE_NAME} in {folder}."))
        return 0
    whose = f" of {clean_line(requests[0].file)}" if folder else ""
    print(f"{count(len(requests), 'server')}{whose} can run only after a yes of yours.")
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
        print("\n" + clean_line(f"What you trust runs for AI clients that work in {folder}; for all AI clients with: {for_all}"))
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
    print(clean_line(f"Trusted, as '{server}'. To take it back: {taken_back}"))


def _not_trusted(request: TrustRequest) -> str:
    if request.project:
        return "It does not run."
    went_on = "What runs goes on, and the change" if request.is_change else "It does not run, and"
    return clean_line(f"{went_on} waits on. To refuse it for good: tooltray trust refuse {shlex.quote(request.entry)}")


def _print_request(request: TrustRequest) -> None:
    print()
    line = f" (line {request.line})" if request.line else ""
    print(clean_line(f"{request.entry}{line}{': changed since you said yes to it' if request.is_change else ''}"))
    for title, value in _facts(request):
        print(f"  {title}: {clean_line(value)}")
    for warning in request.warnings:
        print(f"  Careful: {clean_line(warning)}")
    if request.diff:
        print("  What has changed:")
    for text in request.diff:
        print("    " + clean(text).replace("\n", " "))


def _variables(request: TrustRequest) -> Sequence[str]:
    """Lists the variables, each with its state, if the hub sends that."""
    names, states = request.variables, request.variable_states
    return [f"{name} ({VARIABLE_STATES[state]})" for name, state in zip(names, states, strict=True)] if states else names


def _facts(request: TrustRequest) -> list[tuple[str, str]]:
    is_process = bool(request.command)
    facts = [("Asked for by the program", request.asked_by)] if request.asked_by else []
    facts.append(("It would run" if is_process else "It would connect to", request.target))
    facts += [("in the folder", request.cwd)] if is_process else [("at the host", request.host)]
    if request.is_inside:
        facts.append(("which lies in", f"the project itself: whoever changes the project changes what runs ({request.project})"))
    facts.append(("Secrets of yours that it would get", ", ".join(request.secrets) or "none"))
    nothing = "none by name; like every program that you start, it sees your environment" if is_process else "none"
    facts.append(("Variables of yours that it would get", ", ".join(_variables(request)) or nothing))
    facts += [("With the variable", each) for each in request.env]
    facts += [("With the header", each) for each in request.headers]
    facts += [("It also says", each) for each in request.others]
    facts.append(("Calls that would go through unasked", ", ".join(request.auto_approve) or "none"))
    return facts
