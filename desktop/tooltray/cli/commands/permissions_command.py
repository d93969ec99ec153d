"""`tooltray permissions ...` and `passphrase ...`: which calls run without asking, and the passphrase that confirms such a choice
on computers without a window.

Allowing more needs a terminal at both ends, as `tooltray approve` does. The passphrase is never an argument of a command.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from tooltray.cli.arguments import Usage, command
from tooltray.cli.hubs import Hub, any_hub, started_hub
from tooltray.cli.person import ask_for_new_passphrase, ask_to_confirm, check_terminal, is_allowed
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, answer_list, clean_line
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ServerPermissions, ToolPermission
from tooltray.foundation.snapshots.clients import ClientModeSnapshot

LIST_TIMEOUT_S = 60.0  # of thousands of tools
ASK = "ask"
ALL, READ, WRITE = "all", "read", "write"


def declare(parser: Usage) -> None:
    permissions = parser.subcommands()
    listed = command(permissions, "list", tr("list which tools run without asking, and why"), list_permissions)
    listed.takes("server", "SERVER", tr("only of this one"), nargs="?")
    chosen = command(permissions, "set", tr("choose for one tool"), set_permission, has_json=False).takes("server")
    chosen.takes("tool", "TOOL", tr("the tool's own name"))
    choices = ("always", "ask", "default")
    chosen.add_argument("choice", choices=choices, help=tr("run without asking; always ask first; or use its server's rule"))


def list_permissions(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        found = [each for each in _permissions(hub) if args.server in (None, each.server)]
        clients = [] if args.server or args.json else hub.ask(hub.api.views.get_client_modes(), timeout_s=LIST_TIMEOUT_S)
    if args.server and not found:
        hint = Phrase("List the servers: tooltray servers list")
        raise NotFound(Phrase("Server '{name}' not found", name=clean_line(args.server)), "", hint)
    if args.json:
        return answer(args, found)
    titles = (tr("SERVER"), tr("TOOL"), tr("WITHOUT ASKING"), tr("WHY"))
    rows = [_row(server, tool) for server in found for tool in server.tools]
    code = answer_list(args, rows, titles, list, empty=tr("No tools listed yet."))
    if lines := list(_on_arguments(found, clients)):
        print("", tr("Rules on arguments also allow:"), *lines, sep="\n")
    return code


def _on_arguments(servers: list[ServerPermissions], clients: list[ClientModeSnapshot]) -> Iterator[str]:
    """Yields the rules on arguments, a line each: the servers' rules, and the rules that replace them for AI clients."""
    for server in servers:
        for rule in server.call_rules:
            yield tr("{server}: {calls}", server=clean_line(server.server), calls=clean_line(say(rule)))
    for client in clients:
        name = clean_line(client.title or client.client)
        for rule in client.call_rules or ():
            yield tr("{client}, instead of the servers' rules: {calls}", client=name, calls=clean_line(say(rule)))
        if client.call_rules == ():
            yield tr("{client}: none, and the servers' rules do not apply", client=name)


def set_permission(args: argparse.Namespace, home: Home) -> int:
    """Changes the permission of one tool; a change that may allow more calls is shown first, and needs a confirmation."""
    with started_hub(home) as hub:
        if args.choice != ASK and not _runs_freely(hub, args.server, args.tool):
            tool, server = clean_line(args.tool), clean_line(args.server)
            if not _is_allowed_at_terminal(tr("{tool} of {server} asks now, and would run without asking then.", tool=tool, server=server)):
                return 1
        chosen = hub.api.approvals.set_tool_approval(server=args.server, tool=args.tool, approval=args.choice)
        hub.ask(chosen, timeout_s=LIST_TIMEOUT_S)
    print(_done(args))
    return 0


def _done(args: argparse.Namespace) -> str:
    tool, server = clean_line(args.tool), clean_line(args.server)
    match args.choice:
        case "always":
            return tr("{tool} of {server} runs without asking.", tool=tool, server=server)
        case "ask":
            return tr("{tool} of {server} asks first.", tool=tool, server=server)
        case _:
            return tr("{tool} of {server} follows its server's rule.", tool=tool, server=server)


def _permissions(hub: Hub) -> list[ServerPermissions]:
    return hub.ask(hub.api.approvals.get_permissions(), timeout_s=LIST_TIMEOUT_S)


def _runs_freely(hub: Hub, server: str, tool: str) -> bool:
    """
    Raises:
        TooltrayError: the tool is unknown; consent would cover something that the person has not seen.
    """
    found = [each for of in _permissions(hub) if of.server == server for each in of.tools if each.tool == tool]
    if not found:
        hint = Phrase("List its tools: tooltray permissions list {server}", server=clean_line(server))
        raise TooltrayError(Phrase("Tool '{tool}' of '{server}' not found", tool=clean_line(tool), server=clean_line(server)), "", hint)
    return found[0].is_free


def _row(server: ServerPermissions, tool: ToolPermission) -> list[str]:
    runs = tr("yes") if tool.is_free else tr("allowed") if tool.grants else tr("blocked until reviewed") if tool.is_held else tr("no")
    covered = tool.grants and not tool.is_free
    return [server.server, tool.tool, runs, tr("See it: tooltray grants list") if covered else say(tool.why)]


# rules of servers and of AI clients


def client_rules(args: argparse.Namespace, home: Home) -> int:
    """Chooses the auto-approval rules of one kind of AI client."""
    chosen: list[str] | None = None if args.default else args.rules
    name = clean_line(args.client)
    with started_hub(home) as hub:
        modes = hub.ask(hub.api.views.get_client_modes())
        before = next((each.auto_approve for each in modes if each.client == args.client), None)
        now = _rules(before)
        shown = tr("Runs without asking for {client}: {chosen} (now: {before}).", client=name, chosen=_rules(chosen), before=now)
        if not (chosen is not None and rules_narrow(chosen, before or ())) and not _is_allowed_at_terminal(shown):
            return 1
        hub.ask(hub.api.views.set_client_auto_approve(client=args.client, rules=chosen))
    print(tr("For {client}: {chosen}.", client=name, chosen=_rules(chosen)))
    return 0


def server_rules(args: argparse.Namespace, home: Home) -> int:
    """Chooses the auto-approval rules of one server."""
    chosen, name = checked_rules(args.name, args.rules), clean_line(args.name)
    with any_hub(home) as hub:
        before = rules_of_entry(hub.ask(hub.api.servers.get_server_entry(name=args.name)).counts)
        shown = tr("Runs without asking on {name}: {chosen} (now: {before}).", name=name, chosen=_rules(chosen), before=_rules(before))
        if not rules_narrow(chosen, before) and not _is_allowed_at_terminal(shown):
            return 1
        hub.ask(hub.api.approvals.set_server_auto_approve(server=args.name, rules=chosen), timeout_s=LIST_TIMEOUT_S)
    print(tr("For {name}: {chosen}.", name=name, chosen=_rules(chosen)))
    return 0


def _is_allowed_at_terminal(shown: str) -> bool:
    """Shows a person what would be allowed, and asks for consent."""
    check_terminal()
    print(shown)
    return is_allowed()


def _rules(rules: Sequence[str] | None) -> str:
    if rules is None:
        return tr("each server's autoApprove")
    return ", ".join(clean_line(rule) for rule in rules) or tr("nothing")


def checked_rules(server: str, rules: Sequence[str]) -> list[str]:
    """
    Raises:
        TooltrayError: a rule has no meaning.
    """
    from tooltray.catalogue import auto_approve

    if problem := auto_approve.problem_of(server, rules, ()):
        known = ", ".join(f"{key}..." if key.endswith(":") else key for key in auto_approve.RULES)
        hint = tr("Rules are tool names or: {known}", known=known)
        raise TooltrayError(tr("Some rules for {server} are unknown", server=clean_line(server)), problem.message, hint)
    return list(dict.fromkeys(rules))


def rules_of_entry(entry: Mapping[str, object]) -> list[str]:
    """Returns the rules of an entry of the settings."""
    rules = entry.get("autoApprove", [READ])
    return [rule for rule in rules if isinstance(rule, str)] if isinstance(rules, list) else [READ]


def rules_narrow(rules: Sequence[str], before: Sequence[str]) -> bool:
    """Reports whether these rules allow only calls that the former rules allowed, for any tools."""
    from tooltray.config.settings.widening import rules_widen

    return not rules_widen((*before, ALL) if {READ, WRITE} <= {*before} else before, rules)


def rules_in_words(rules: Sequence[str]) -> str:
    """Describes the rules of a server that was added."""
    if ALL in rules:
        return tr("All its tools run without asking (autoApprove: all).")
    if not rules:
        return tr("Every call asks first (autoApprove: nothing).")
    listed = ", ".join(clean_line(rule) for rule in rules)
    if list(rules) == [READ]:
        return tr("Read-only tools run without asking; writes ask first (autoApprove: read).")
    return tr("Calls that these rules cover run without asking; all others ask first (autoApprove: {listed}).", listed=listed)


def declare_passphrase(parser: Usage) -> None:
    lost = tr("If you lose it: stop Tooltray (tooltray stop), delete passphrase.json in ~/.tooltray, and set a new one")
    parser.epilog, passphrase = lost, parser.subcommands()
    about = tr("set or replace it; asks for the current one")
    command(passphrase, "set", about, set_passphrase, has_json=False).epilog = lost
    command(passphrase, "remove", tr("remove it"), remove_passphrase, has_json=False).epilog = lost
    command(passphrase, "check", tr("show whether one is set, and check that you know it"), check_passphrase).epilog = lost


def set_passphrase(args: argparse.Namespace, home: Home) -> int:
    """Sets the passphrase; the hub asks for the current one, if there is one, or in the window where a desktop runs."""
    check_terminal(tr("Setting a passphrase"))
    with any_hub(home) as hub:
        state = hub.ask(hub.api.confirmations.get_passphrase_state())
        if state.is_set:
            print(tr("A passphrase is set. Type a new one, and then confirm it."))
        hub.ask(hub.api.confirmations.set_passphrase(passphrase=ask_for_new_passphrase()))
    print(tr("Set. When Tooltray runs without a window, commands that allow something ask for it."))
    print(tr("It cannot be shown again. If you lose it: tooltray passphrase --help"))
    return 0


def remove_passphrase(args: argparse.Namespace, home: Home) -> int:
    check_terminal(tr("Removing the passphrase"))
    with any_hub(home) as hub:
        if not hub.ask(hub.api.confirmations.get_passphrase_state()).is_set:
            return answer(args, {"is_set": False}, tr("No passphrase is set."))
        hub.ask(hub.api.confirmations.remove_passphrase())
    print(tr("Removed. Commands that allow something are confirmed at the terminal again."))
    return 0


def check_passphrase(args: argparse.Namespace, home: Home) -> int:
    """Reports whether one is set; at a terminal also whether the user knows it."""
    with any_hub(home) as hub:
        state = hub.ask(hub.api.confirmations.get_passphrase_state())
        if args.json or not state.is_set:
            return answer(args, state, tr("No passphrase is set. Set one with: tooltray passphrase set"))
        nobody = TooltrayError(tr("A passphrase is set"), tr("it can only be typed in a terminal"))
        hub.ask(hub.api.confirmations.confirm_with_passphrase(passphrase=ask_to_confirm(nobody)))
    print(tr("The passphrase is correct."))
    return 0
