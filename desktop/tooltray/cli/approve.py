"""`tooltray approve ...` and `tooltray grants ...`: a person's yes to tool calls, where no window asks for it.

Above it: run. Below it: the running hub. A yes needs a terminal at both ends, and the person reads what it is about before giving it: what
an AI client can start by itself without one is not to allow its own calls.
"""

import argparse
import contextlib
import datetime
import time
from collections.abc import Sequence
from typing import Any

from tooltray.cli import auto_approve
from tooltray.cli.confirm import check_terminal
from tooltray.cli.hub import hub_or_settings, started_hub
from tooltray.cli.terminal import clean, clean_line, count, cut, print_json, print_table
from tooltray.control.control_client import ControlClient
from tooltray.errors import TooltrayError
from tooltray.home.home import Home

LIST_TIMEOUT_S = 60.0  # servers that were never listed are waited for
LAST_DAY = 10**10  # beyond it no calendar goes on; times in a file may have been written by hand
DESCRIPTION_COLUMNS = 100  # of each tool that a yes covers; there may be dozens, and each is to be seen as one line
QUESTION = "Allow this?"
YES, NO = ("y", "yes"), ("n", "no")


def approve(args: argparse.Namespace, home: Home) -> int:
    """What the words mean is decided here: a list, an answer to one call, or a grant."""
    words: Sequence[str] = args.words
    if list(words) in ([], ["list"]):
        return _list_waiting(args, home)
    if args.is_refusal:
        return _refuse(words[1], home)
    check_terminal()
    with contextlib.closing(started_hub(home)) as hub:
        if len(words) == 1 and not args.all_reads:
            return _answer(hub, words[0], args.answer or "once")
        return _grant(hub, args, words)


def _list_waiting(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        calls = hub.call("get_approvals")
    if args.json:
        print_json(calls)
    elif calls:
        rows = [(each["id"], each["server"], each["tool"], each["client"], _left(each["ends_at"]), each["why"]) for each in calls]
        print_table(("ID", "SERVER", "TOOL", "CLIENT", "FOR", "WHY"), rows)
    else:
        print("No call waits for a yes.")
    return 0


def _refuse(id: str, home: Home) -> int:
    """A no needs no terminal: it allows nothing."""
    with contextlib.closing(started_hub(home)) as hub:
        hub.call("answer_approval", id=_waiting(hub, id)["id"], answer="refuse")
    print("Refused.")
    return 0


def _answer(hub: ControlClient, id: str, answer: str) -> int:
    call = _waiting(hub, id)
    if call["id"] != id:
        tool = clean_line(f"{call['tool']} of {call['server']}")
        print(f"{tool} has changed since this call was refused; this is the call of the tool as it is now.")
    _print_call(call)
    answered = said()
    if answered in YES:
        hub.call("answer_approval", id=call["id"], answer=answer)
        print("Allowed.")
        return 0
    if answered in NO:
        hub.call("answer_approval", id=call["id"], answer="refuse")
        print("Refused.")
    else:
        print(f"Nothing was allowed, nothing refused. To refuse it: tooltray approve refuse {clean_line(call['id'])}")
    return 1


def _waiting(hub: ControlClient, id: str) -> dict[str, Any]:
    """
    Raises:
        TooltrayError: no call waits under this id, or did before its tool has changed.
    """
    calls: list[dict[str, Any]] = hub.call("get_approvals")
    call = next((each for each in calls if id in (each["id"], each.get("replaces"))), None)  # an older hub says nothing of the second
    if call is None or not id:
        raise TooltrayError(f"No call '{clean_line(id)}' waits for a yes", "", "See which do: tooltray approve list")
    return call


def _grant(hub: ControlClient, args: argparse.Namespace, words: Sequence[str]) -> int:
    kind, tool = ("reads", "") if args.all_reads else ("tool", words[1])
    options = {"server": words[0], "kind": kind, "tool": tool, "client": args.client or ""}
    covered = hub.call("preview_grant", timeout_s=LIST_TIMEOUT_S, **options)
    _print_covered(covered)
    warnings = [each for each in hub.call("get_tool_changes") if each["server"] == words[0] and each["tool"] in _names(covered)]
    for change in warnings:
        _print_change(change)
    print(f"For {clean_line(args.client) if args.client else 'every AI client'}, {_until(args.duration)}.")
    if not _is_meant():
        return 1
    grant = hub.call("add_grant", timeout_s=LIST_TIMEOUT_S, **options, expires_in_s=args.duration)
    print(f"Allowed. To take it back: tooltray grants remove {clean_line(grant['id'])}")
    return 0


def rules(args: argparse.Namespace, home: Home) -> int:
    """Chooses which calls of one kind of AI client go through auto_approve."""
    chosen = None if args.default else args.rules
    with contextlib.closing(started_hub(home)) as hub:
        before = next((each["auto_approve"] for each in hub.call("get_client_modes") if each["client"] == args.client), None)
        if chosen is None or not auto_approve.narrows(chosen, before or ()):
            check_terminal()
            print(f"What goes through unasked for {clean_line(args.client)}: {_rules(chosen)} (now: {_rules(before)}).")
            if not _is_meant():
                return 1
        hub.call("set_client_auto_approve", client=args.client, rules=chosen)
    print(f"For {clean_line(args.client)}: {_rules(chosen)}.")
    return 0


def server_rules(args: argparse.Namespace, home: Home) -> int:
    """Chooses which calls of one server go through auto_approve."""
    chosen = auto_approve.checked(args.name, args.rules)
    with contextlib.closing(hub_or_settings(home)) as hub:
        before = auto_approve.of_entry(hub.call("get_server_entry", name=args.name)["counts"])
        if not auto_approve.narrows(chosen, before):
            check_terminal()
            print(f"What goes through unasked of {clean_line(args.name)}: {_rules(chosen)} (now: {_rules(before)}).")
            if not _is_meant():
                return 1
        hub.call("set_server_auto_approve", timeout_s=LIST_TIMEOUT_S, server=args.name, rules=chosen)
    print(f"For {clean_line(args.name)}: {_rules(chosen)}.")
    return 0


def _rules(rules: Sequence[str] | None) -> str:
    if rules is None:
        return "what each server's autoApprove says"
    return ", ".join(clean_line(rule) for rule in rules) or "nothing"


def list_grants(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        grants = hub.call("get_grants")
    if args.json:
        print_json(grants)
    elif grants:
        print_table(("ID", "SERVER", "WHAT", "FOR", "SINCE", "UNTIL", "HELD"), [_row(each) for each in grants])
    else:
        print("No standing permissions beyond each server's own.")
    return 0


def remove(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        hub.call("remove_grant", id=args.id)
    print_json({"removed": args.id}) if args.json else print("Taken back.")
    return 0


def preview(args: argparse.Namespace, home: Home) -> int:
    """Which tools `tooltray approve` with the same words would allow."""
    kind = "tool" if args.tool else "reads"
    with contextlib.closing(started_hub(home)) as hub:
        covered = hub.call("preview_grant", timeout_s=LIST_TIMEOUT_S, server=args.server, kind=kind, tool=args.tool or "")
    print_json(covered) if args.json else _print_covered(covered)
    return 0


def changes(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        found = hub.call("get_tool_changes")
    if args.json:
        print_json(found)
        return 0
    for change in found:
        _print_change(change)
    if not found:
        print("No tool has changed since it was allowed.")
    return 0


def accept(args: argparse.Namespace, home: Home) -> int:
    """What was allowed counts for a tool as it is now."""
    check_terminal()
    with contextlib.closing(started_hub(home)) as hub:
        change = next((each for each in hub.call("get_tool_changes") if (each["server"], each["tool"]) == (args.server, args.tool)), None)
        if change is None:
            raise TooltrayError(f"'{clean_line(args.tool)}' has not changed since it was allowed", "", "See: tooltray grants changes")
        _print_change(change)
        if not _is_meant():
            return 1
        hub.call("accept_tool_change", server=args.server, tool=args.tool)
    print("Accepted.")
    return 0


def _is_meant() -> bool:
    is_meant = said() in YES
    if not is_meant:
        print("Nothing was allowed.")
    return is_meant


def said(question: str = QUESTION) -> str:
    """What a person types, in small letters; nothing at the end of the input."""
    try:
        return input(f"{question} [y/N] ").strip().lower()
    except EOFError:
        return ""


def _print_call(call: dict[str, Any]) -> None:
    print(clean_line(f"{call['client'] or 'An AI client'} calls {call['tool']} of {call['server']} ({call['category']})."))
    for title, value in (("Project", call["project"]), ("Description", call["description"]), ("It asks because", call["why"])):
        if value:
            print(f"{title}: {clean_line(value)}")
    _print_warnings(call["warnings"])
    _print_lines("The definition has changed:", call["definition_diff"])
    _print_lines("It would change:", call["diff"])
    _print_lines("Arguments:", call["arguments"].splitlines())


def _print_change(change: dict[str, Any]) -> None:
    _print_lines(clean_line(f"{change['tool']} of {change['server']} has changed since it was allowed:"), change["diff"])
    _print_warnings(change["warnings"])


def _print_covered(covered: Sequence[dict[str, Any]]) -> None:
    print_table(("TOOL", "SERVER", "KIND", "DESCRIPTION"), [_covered_row(each) for each in covered])
    print(count(len(covered), "tool") + ".")
    for tool in covered:
        _print_warnings([f"{tool['original_name']}: {warning}" for warning in tool.get("warnings", ())])


def _covered_row(tool: dict[str, Any]) -> list[str]:
    return [tool["original_name"], tool["server"], tool["category"], cut(clean_line(tool["description"]), DESCRIPTION_COLUMNS)]


def _names(covered: Sequence[dict[str, Any]]) -> set[str]:
    return {each["original_name"] for each in covered}


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print(f"Careful: {clean_line(warning)}")


def _print_lines(title: str, lines: Sequence[str]) -> None:
    if lines:
        print(title)
        for line in lines:
            print("  " + clean(line).replace("\n", " "))


def _row(grant: dict[str, Any]) -> list[str]:
    what = "all reads" if grant["kind"] == "reads" else grant["tool"]
    for_whom = grant["client"] or "every client"
    for_whom += " (this session)" if grant["session"] else ""
    until = day(grant["expires_at"]) if grant["expires_at"] else "you take it back"
    return [grant["id"], grant["server"], what, for_whom, day(grant["created_at"]), until, ", ".join(grant["held_tools"])]


def day(seconds: float) -> str:
    """A time of the control channel, as people write it."""
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if 0 <= seconds < LAST_DAY else "?"


def _left(ends_at: float) -> str:
    return f"{max(0.0, ends_at - time.time()):.0f} s"


def _until(duration_s: float | None) -> str:
    return "until you take it back" if duration_s is None else f"until {day(time.time() + duration_s)}"
