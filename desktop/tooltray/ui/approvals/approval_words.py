"""What the approval window and the page of what is allowed say. Pure functions of the engine's snapshots.

Above it: that window, that page and its sheets. Below it: events and errors.
"""

from collections.abc import Sequence
from datetime import datetime

from tooltray.errors import Problem
from tooltray.snapshots.approvals import ApprovalSnapshot, GrantSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import whole
from tooltray.ui.times import moment

HOUR_S, DAY_S = 3600.0, 86400.0


def question(request: ApprovalSnapshot) -> str:
    """Returns who wants what, as a question."""
    client = request.client or tr("An AI client")
    if request.diff:
        return tr("Let {client} make this change?", client=client)
    if request.category == "write":
        return tr("Let {client} change something?", client=client)
    return tr("Let {client} read something?", client=client)


def wish(request: ApprovalSnapshot) -> str:
    return tr("It wants to use {tool} of {server}.", tool=request.tool, server=request.server)


def because(request: ApprovalSnapshot) -> str:
    """Returns why somebody is asked, as a sentence."""
    return whole(Problem(request.why))


def warnings(found: Sequence[str]) -> str:
    """Returns what is odd in a definition, a sentence on each line."""
    return "\n".join(whole(Problem(warning)) for warning in found)


def lasting_choice(choice: str, request: ApprovalSnapshot) -> str:
    """Returns the words of "always" or "reads"."""
    if choice == "reads":
        return tr("Always allow everything of {server} that reads", server=request.server)
    return tr("Always allow {tool} of {server}", tool=request.tool, server=request.server)


def minutes(seconds: float) -> str:
    """Returns a time left, e.g. "1:26"."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02}"


def granted(grant: GrantSnapshot) -> str:
    """Returns what was allowed."""
    if grant.kind == "reads":
        return tr("Everything of {server} that reads", server=grant.server)
    return tr("{tool} of {server}", tool=grant.tool, server=grant.server)


def granted_to(grant: GrantSnapshot) -> str:
    """Returns for whom."""
    if grant.session:
        return grant.client or tr("One session")
    return grant.client or tr("All clients")


def granted_until(grant: GrantSnapshot, now: datetime) -> str:
    """Returns how long it lasts."""
    if grant.session:
        return tr("The session ends")
    return moment(grant.expires_at, now) if grant.expires_at else tr("You take it back")


def ends(grant: GrantSnapshot, now: datetime) -> tuple[str, str]:
    """Returns the chip of a grant: how long it lasts, or that it is held, which is what matters more."""
    return (tr("Held"), "warning") if grant.is_held else (granted_until(grant, now), "")


def details(grant: GrantSnapshot, now: datetime) -> str:
    """Returns what else there is to know of how long it lasts."""
    until = tr("Until: {when}", when=granted_until(grant, now))
    if not grant.is_held:
        return until
    tools = ", ".join(grant.held_tools)
    return f"{tr('Defined in another way since you allowed it, so it asks again: {tools}', tools=tools)}\n{until}"


def own_permissions(count: int) -> str:
    """Returns what a person reads who has allowed nothing for longer than one call.

    Args:
        count: of servers whose own settings let every call through.
    """
    if not count:
        return tr("No standing permissions beyond each server's own")
    if count == 1:
        return tr("No standing permissions beyond each server's own (1 server allows everything)")
    return tr("No standing permissions beyond each server's own ({count} servers allow everything)", count=count)
