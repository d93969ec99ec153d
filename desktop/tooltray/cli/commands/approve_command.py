"""`tooltray approve ...` and `tooltray grants ...`: a person's consent to tool calls without a window.

Consent needs a terminal for input and output, where the person first reads the details: an AI client that starts the command itself must
not allow its own calls.
"""

import argparse
import contextlib
import json
import math
import time
from collections.abc import Sequence

from tooltray.cli import values
from tooltray.cli.arguments import Usage, command
from tooltray.cli.derived_commands import VerbCommands, done, table
from tooltray.cli.hubs import Hub, started_hub
from tooltray.cli.person import ALLOW, NO, YES, check_terminal, is_allowed, typed_answer
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, answer_list, clean, clean_line, count, cut, day, print_json, print_table
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, GrantSnapshot, RulePreview, ToolChange, tried_in_words
from tooltray.foundation.snapshots.tools import CoveredTool, ToolSnapshot

LIST_TIMEOUT_S = 60.0  # servers that were never listed are waited for
DESCRIPTION_COLUMNS = 100  # characters of each tool's line; consent may cover dozens of tools
SOON_S = 7 * 86_400.0  # for an earlier end, the time left is shown
RULE = "rule"  # of `--rule`


def declare(parser: Usage) -> None:
    parser.runs(approve, check=_check)
    parser.usage = (
        "tooltray approve [list] | decline ID\n"
        "       tooltray approve ID [--once | --like | --session | --hour | --day | --until-lock | --always | --reads | --rule]\n"
        "                           [--arguments JSON]\n"
        "       tooltray approve SERVER TOOL [--client NAME] [--for TIME | --until-lock]\n"
        "       tooltray approve SERVER --all-reads [--client NAME] [--for TIME | --until-lock]\n"
        "       tooltray approve [--client NAME] [--for TIME] -- SERVER TOOL   (also where a server is called decline)"
    )
    parser.takes("words", "WORDS", tr("a call's ID from `tooltray approve list`, or a tool"), nargs="*")
    for each, text in (
        ("once", tr("only this call (the default)")),
        ("like", tr("similar calls for some seconds, as set by `approvals.sameForSeconds`")),
        ("session", tr("this tool, until the AI client ends")),
        ("hour", tr("this tool, for an hour")),
        ("day", tr("this tool, for a day")),
        ("always", tr("this tool, for this AI client, until revoked")),
        ("reads", tr("every read-only tool of the server, for this AI client, until revoked")),
    ):
        parser.add_argument(f"--{each}", dest="answer", action="store_const", const=each, help=f"with ID: {text}")
    parser.add_argument(
        "--rule", dest="answer", action="store_const", const="rule", help=tr("with ID: every call that matches the rule shown")
    )
    parser.takes("--arguments", "JSON", tr("with ID: run it with these arguments; its client learns what you changed"))
    parser.flag("--all-reads", tr("with SERVER: all its current read-only tools"))
    parser.takes("--client", "NAME", tr("only for this AI client, by the name it reports"))
    parser.takes("--for", "TIME", tr("for this long: 90s, 30m, 8h or 7d"), dest="duration", type=values.time)
    parser.flag("--until-lock", tr("until the screen locks; needs Tooltray's window"))


def declare_grants(parser: Usage) -> None:
    grants = parser.subcommands()
    verbs = VerbCommands(grants)
    titles = (tr("ID"), tr("SERVER"), tr("WHAT"), tr("FOR"), tr("SINCE"), tr("UNTIL"), tr("CHANGED TOOLS"))
    listed = table(titles, _grant_row, tr("No standing permissions beyond each server's own."))
    verbs.add("list", tr("list permissions that outlast one call"), "get_grants", listed)
    rule = command(grants, "rule", tr("allow calls that match a rule on arguments"), "commands.approve_command:add_rule")
    rule.epilog = tr(
        "A rule names a tool and a condition for each argument, one of {conditions}: {example}",
        conditions="inside, hosts, command, number, equals, oneOf",
        example='{"tool": "read_file", "arguments": {"path": {"inside": ["~/notes"]}}, "others": ["limit"]}',
    )
    rule.takes("server")
    rule.takes("rule", "JSON", tr("the rule, as callRules has it"))
    rule.flag("--preview", tr("show what it means and would have covered, and allow nothing"))
    rule.takes("--client", "NAME", tr("only for this AI client, by the name it reports"))
    rule.takes("--for", "TIME", tr("for this long: 90s, 30m, 8h or 7d"), dest="duration", type=values.time)
    rule.flag("--until-lock", tr("until the screen locks; needs Tooltray's window"))
    removed = done(lambda *_: tr("Revoked."), removed=lambda args, _: args.id)
    verbs.add("remove", tr("revoke a permission"), "remove_grant", removed)
    previewing = command(grants, "preview", tr("list the tools that a grant would allow"), preview).takes("server")
    previewing.takes("tool", "TOOL", tr("this tool; without it: every read-only tool"), nargs="?")
    command(grants, "changes", tr("show how tools differ from what was allowed"), changes)
    text = tr("accept a changed tool, so that earlier permissions apply to it again")
    command(grants, "accept", text, accept, has_json=False).takes("server").takes("tool")


def _check(usage: Usage, args: argparse.Namespace) -> None:
    args.is_decline = len(args.words) == 2 and args.words[0] == "decline" and not args.is_marked
    lasts = args.duration is not None or args.until_lock
    if args.is_decline and (args.client or lasts):
        usage.error(tr("--client, --for and --until-lock cannot be used with decline ID; for a server called decline: -- decline TOOL"))
    is_for_tools = args.client or args.duration is not None or (args.until_lock and len(args.words) != 1)
    if len(args.words) != (1 if args.all_reads else 2) and (args.all_reads or is_for_tools):
        usage.error(tr("--all-reads needs only SERVER; --client and --for need SERVER TOOL or SERVER --all-reads"))
    if args.answer and (len(args.words) != 1 or args.all_reads or args.until_lock):
        usage.error(tr("use one of --once, --like, --session, --hour, --day, --always and --reads, with an ID"))
    if args.arguments is not None and (len(args.words) != 1 or args.all_reads):
        usage.error(tr("--arguments needs an ID"))
    if len(args.words) > 2:
        usage.error(tr("give an ID, or SERVER TOOL; quote names with spaces"))
    if args.json and args.words not in ([], ["list"]):
        usage.error(tr("--json works only with the list: approving needs a user who has read the request"))


def approve(args: argparse.Namespace, home: Home) -> int:
    """Lists waiting calls, answers one of them, or adds a grant; the words decide which."""
    words: Sequence[str] = args.words
    if list(words) in ([], ["list"]):
        return _list_waiting(args, home)
    if args.is_decline:
        return _decline(words[1], home)
    check_terminal()
    with started_hub(home) as hub:
        if len(words) == 1 and not args.all_reads:
            return _answer(hub, words[0], "lock" if args.until_lock else args.answer or "once", args.arguments)
        return _grant(hub, args, words)


def _list_waiting(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        calls = hub.ask(hub.api.approvals.get_approvals())
    text = tr("No call is waiting for approval.")
    return answer_list(args, calls, (tr("ID"), tr("SERVER"), tr("TOOL"), tr("CLIENT"), tr("FOR"), tr("WHY")), _waiting_row, empty=text)


def _waiting_row(call: ApprovalSnapshot) -> list[str]:
    return [call.id, call.server, call.tool, call.client, f"{max(0.0, call.ends_at - time.time()):.0f} s", call.why]


def _decline(id: str, home: Home) -> int:
    """Declines a call; needs no terminal, since it allows nothing."""
    with started_hub(home) as hub:
        hub.ask(hub.api.approvals.answer_approval(id=_waiting(hub, id).id, answer="refuse"))
    print(tr("Declined."))
    return 0


def _answer(hub: Hub, id: str, answer: str, changed: str | None) -> int:
    call = _waiting(hub, id)
    arguments = {} if changed is None else {"arguments": _read(changed, tr("Invalid arguments"))}
    if call.id != id:
        tool = clean_line(tr("{tool} of {server}", tool=call.tool, server=call.server))
        print(tr("{tool} has changed since this call was declined; this is the call of the tool as it is now.", tool=tool))
    if arguments:
        call = hub.ask(hub.api.approvals.preview_approval(id=call.id, **arguments))
    _print_call(call, call.diff if arguments else _disk_diff(hub, call))
    if answer == RULE:
        answer = _narrowest_rule(call)
    typed = typed_answer(ALLOW)
    if typed in YES:
        hub.ask(hub.api.approvals.answer_approval(id=call.id, answer=answer, **arguments))
        print("Allowed.")
        return 0
    if typed in NO:
        hub.ask(hub.api.approvals.answer_approval(id=call.id, answer="refuse"))
        print(tr("Declined."))
    else:
        print(tr("The call still waits. To decline it: tooltray approve decline {id}", id=clean_line(call.id)))
    return 1


def _narrowest_rule(call: ApprovalSnapshot) -> str:
    """Prints the rule, and returns the answer that makes it.

    Raises:
        TooltrayError: no rule can be made of the call.
    """
    if not call.rules:
        raise TooltrayError(tr("This call cannot become a rule"), "", tr("Allow it once: tooltray approve {id}", id=clean_line(call.id)))
    rule = call.rules[0]
    print(tr("Runs without asking from now on, for {client}:", client=clean_line(call.client) or tr("this AI client")))
    print("  " + clean_line(rule.words))
    return rule.answer


def _waiting(hub: Hub, id: str) -> ApprovalSnapshot:
    """
    Raises:
        TooltrayError: no call waits under this id, or its tool has changed since.
    """
    calls = hub.ask(hub.api.approvals.get_approvals()) if id else []
    call = next((each for each in calls if id in (each.id, each.replaces)), None)
    if call is None:
        raise TooltrayError(
            tr("Call '{id}' is not waiting for approval", id=clean_line(id)), "", tr("List waiting calls: tooltray approve list")
        )
    return call


def _grant(hub: Hub, args: argparse.Namespace, words: Sequence[str]) -> int:
    server, client, api = words[0], args.client or "", hub.api.approvals
    kind, tool = ("reads", "") if args.all_reads else ("tool", words[1])
    covered = hub.ask(api.preview_grant(server=server, kind=kind, tool=tool, client=client), timeout_s=LIST_TIMEOUT_S)
    _print_covered(covered)
    names = {each.original_name for each in covered}
    for change in hub.ask(api.get_tool_changes()):
        if change.server == server and change.tool in names:
            _print_change(change)
    print(tr("For {client}, {until}.", client=clean_line(client) or tr("every AI client"), until=_until(args)))
    if not is_allowed():
        return 1
    lock = {"until": "lock"} if args.until_lock else {}  # unknown to older hubs
    seen = {"seen": covered[0].revision} if covered and covered[0].revision else {}
    adding = api.add_grant(server=server, kind=kind, tool=tool, client=client, expires_in_s=args.duration, **lock, **seen)
    grant = hub.ask(adding, timeout_s=LIST_TIMEOUT_S)
    print(tr("Allowed. To revoke it: tooltray grants remove {id}", id=clean_line(grant.id)))
    return 0


def preview(args: argparse.Namespace, home: Home) -> int:
    """Shows which tools `tooltray approve` with the same words would allow."""
    kind = "tool" if args.tool else "reads"
    with started_hub(home) as hub:
        looking = hub.api.approvals.preview_grant(server=args.server, kind=kind, tool=args.tool or "")
        covered = hub.ask(looking, timeout_s=LIST_TIMEOUT_S)
    print_json(covered) if args.json else _print_covered(covered)
    return 0


def changes(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        found = hub.ask(hub.api.approvals.get_tool_changes())
    if args.json or not found:
        return answer(args, found, tr("No tool has changed since it was allowed."))
    for change in found:
        _print_change(change)
    return 0


def accept(args: argparse.Namespace, home: Home) -> int:
    """Renews consent for a tool whose definition has changed."""
    check_terminal()
    with started_hub(home) as hub:
        found = hub.ask(hub.api.approvals.get_tool_changes())
        change = next((each for each in found if (each.server, each.tool) == (args.server, args.tool)), None)
        if change is None:
            raise TooltrayError(
                tr("'{tool}' has not changed since it was allowed", tool=clean_line(args.tool)), "", tr("See: tooltray grants changes")
            )
        _print_change(change)
        if not is_allowed():
            return 1
        kind = {} if change.kind == "tool" else {"kind": change.kind}  # unknown to older hubs
        seen = {"seen": change.revision} if change.revision else {}
        hub.ask(hub.api.approvals.accept_tool_change(server=args.server, tool=args.tool, **kind, **seen))
    print("Accepted.")
    return 0


def _disk_diff(hub: Hub, call: ApprovalSnapshot) -> Sequence[str]:
    """Returns how a call would change the file on disk; if that is unknown, only the diff of its arguments."""
    if call.diff:
        with contextlib.suppress(TooltrayError):  # the call was answered just now, or the hub is older
            return hub.ask(hub.api.approvals.get_approval_diff(id=call.id)) or call.diff
    return call.diff


def _print_call(call: ApprovalSnapshot, diff: Sequence[str]) -> None:
    print(
        clean_line(
            tr(
                "{client} calls {tool} of {server} ({category}).",
                client=call.client or tr("An AI client"),
                tool=call.tool,
                server=call.server,
                category=call.category,
            )
        )
    )
    for title, value in (("Project", call.project), ("Description", call.description), (tr("It asks because"), call.why)):
        if value:
            print(f"{title}: {clean_line(value)}")
    _print_warnings(call.warnings)
    _print_lines(tr("The definition has changed:"), call.definition_diff)
    _print_lines(tr("It would change:"), diff)
    _print_lines("Arguments:", call.arguments.splitlines())


def _print_change(change: ToolChange) -> None:
    _print_lines(
        clean_line(tr("{tool} of {server} has changed since it was allowed:", tool=change.tool, server=change.server)), change.diff
    )
    _print_warnings(change.warnings)


def _print_covered(covered: Sequence[ToolSnapshot]) -> None:
    print_table((tr("TOOL"), tr("SERVER"), tr("KIND"), tr("DESCRIPTION")), [_covered_row(each) for each in covered])
    print(count(len(covered), "tool") + ".")
    for tool in covered:
        if isinstance(tool, CoveredTool):
            _print_warnings([f"{tool.original_name}: {warning}" for warning in tool.warnings])


def _covered_row(tool: ToolSnapshot) -> list[str]:
    return [tool.original_name, tool.server, tool.category, cut(clean_line(tool.description), DESCRIPTION_COLUMNS)]


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print(tr("Warning: {warning}", warning=clean_line(warning)))


def _print_lines(title: str, lines: Sequence[str]) -> None:
    if lines:
        print(title)
        for line in lines:
            print("  " + clean(line).replace("\n", " "))


def _grant_row(grant: GrantSnapshot) -> list[str]:
    what = tr("all read-only tools") if grant.kind == "reads" else grant.words or grant.tool
    for_whom = (grant.client or tr("every client")) + (tr(" (this session)") if grant.session else "")
    return [grant.id, grant.server, what, for_whom, day(grant.created_at), _ends(grant), ", ".join(grant.held_tools)]


def _ends(grant: GrantSnapshot) -> str:
    ends = [tr("the screen locks")] if grant.until == "lock" else []
    if grant.expires_at:
        left_s = grant.expires_at - time.time()
        end = tr("{time} ({left} left)", time=day(grant.expires_at), left=_left(left_s)) if left_s < SOON_S else day(grant.expires_at)
        ends.append(end)
    if grant.session:
        ends.append(tr("the session ends"))
    return tr("{one} or {other}", one=ends[0], other=ends[1]) if len(ends) > 1 else next(iter(ends), tr("you revoke it"))


def _left(seconds: float) -> str:
    """Formats the time left, rounded up, so that a valid grant never shows zero."""
    whole = max(1, math.ceil(seconds))
    for unit, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if whole >= unit:
            return f"{whole // unit} {name}"
    return f"{whole} s"


def _until(args: argparse.Namespace) -> str:
    if args.until_lock:
        return tr("until the screen locks")
    return tr("until you revoke it") if args.duration is None else tr("until {time}", time=day(time.time() + args.duration))


LINE_COLUMNS = 80  # of the arguments of each recent call
MOST_SHOWN = 20  # recent calls


def add_rule(args: argparse.Namespace, home: Home) -> int:
    """Shows what a rule means, and adds it after the person has consented."""
    rule = _read(args.rule, tr("Invalid rule"))
    if not args.preview:
        check_terminal()
    with started_hub(home) as hub:
        preview = hub.ask(hub.api.approvals.preview_rule(server=args.server, rule=rule), timeout_s=LIST_TIMEOUT_S)
        if args.preview and args.json:
            print_json(preview)
            return 0
        _print_preview(preview)
        if args.preview:
            return 0
        if not is_allowed():
            return 1
        ends = {"expires_in_s": args.duration, **({"until": "lock"} if args.until_lock else {})}
        adding = hub.api.approvals.add_rule(server=args.server, rule=rule, client=args.client or "", **ends)
        grant = hub.ask(adding, timeout_s=LIST_TIMEOUT_S)
    return answer(args, grant, tr("Allowed. To revoke it: tooltray grants remove {id}", id=clean_line(grant.id)))


def _read(text: str, problem: str) -> dict[str, object]:
    """
    Raises:
        TooltrayError: `problem`, since the text is not a JSON object.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise TooltrayError(problem, tr("it must be a JSON object"), tr("Quote it for your shell."))
    return value


def _print_preview(preview: RulePreview) -> None:
    print(tr("Runs without asking: {calls}.", calls=clean_line(preview.words)))
    for said in (*preview.problems, *preview.cautions):
        print(tr("Warning: {warning}", warning=clean_line(said)))
    for said in tried_in_words(preview):
        print(say(said))
    rows = [
        [tr("yes") if each.is_covered else tr("no"), day(each.at), each.tool, cut(clean_line(each.line), LINE_COLUMNS)]
        for each in preview.calls[:MOST_SHOWN]
    ]
    if rows:
        print_table((tr("COVERED"), tr("WHEN"), tr("TOOL"), tr("CALLED WITH")), rows)
