"""What a waiting tool call is: who wants what, with which arguments, what it would change, and why it needs approval."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import starmap

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, GrantSnapshot
from tooltray.ui.figures import moment
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.code_view import CodeView, DiffView
from tooltray.ui.widgets.icon import Icon, IconTile
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, row

HOUR_S, DAY_S = 3600.0, 86400.0
SOON_S = 7 * DAY_S  # what ends later is said by its day


def question(request: ApprovalSnapshot) -> str:
    """Returns which client wants what, as a question."""
    client = request.client or tr("An AI client")
    if request.diff:
        return tr("Let {client} make this change?", client=client)
    if request.category == "write":
        return tr("Let {client} change something?", client=client)
    return tr("Let {client} read something?", client=client)


def wish(request: ApprovalSnapshot) -> str:
    return tr("It wants to use {tool} of {server}.", tool=request.tool, server=request.server)


def because(request: ApprovalSnapshot) -> str:
    """Returns why approval is needed, as a sentence."""
    return whole(Problem(request.why))


def warnings(found: Sequence[str]) -> str:
    """Returns what is unusual in a definition, a sentence on each line."""
    return "\n".join(whole(Problem(warning)) for warning in found)


LASTING = ("like", "hour", "day", "lock", "always", "reads")
"""Answers in a menu, the shortest first."""


def lasting_choice(choice: str, request: ApprovalSnapshot) -> str:
    """Returns the words of one of LASTING."""
    tool, server = request.tool, request.server
    words = {
        "like": tr("Allow {tool} for {count} seconds, whatever it is called with", tool=tool, count=request.like_for_s),
        "hour": tr("Allow {tool} for an hour", tool=tool),
        "day": tr("Allow {tool} for a day", tool=tool),
        "lock": tr("Allow {tool} until the screen locks", tool=tool),
        "reads": tr("Always allow everything of {server} that reads", server=server),
    }
    return words.get(choice) or tr("Always allow {tool} of {server}", tool=tool, server=server)


def minutes(seconds: float) -> str:
    """Returns a time left, e.g. "1:26"."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02}"


def granted(grant: GrantSnapshot) -> str:
    """Returns what was allowed."""
    if grant.kind == "reads":
        return tr("Everything of {server} that reads", server=grant.server)
    if grant.kind == "rule":
        return tr("Rule for {server}: {calls}", server=grant.server, calls=say(grant.words))
    return tr("{tool} of {server}", tool=grant.tool, server=grant.server)


def granted_to(grant: GrantSnapshot) -> str:
    """Returns the clients of a grant."""
    if grant.session:
        return grant.client or tr("One session")
    return grant.client or tr("All clients")


def granted_until(grant: GrantSnapshot, now: datetime) -> str:
    """Returns how long it lasts."""
    if grant.session:
        return tr("The session ends")
    if grant.until == "lock":
        lock = tr("The screen locks")
        return tr("{one} or {other}", one=lock, other=moment(grant.expires_at, now)) if grant.expires_at else lock
    return moment(grant.expires_at, now) if grant.expires_at else tr("You revoke it")


def time_left(seconds: float) -> str:
    """Returns how long a grant still lasts, rounded up to at least 1 s."""
    whole = max(1, math.ceil(seconds))
    if whole < 60:
        return tr("{count} s left", count=whole)
    if whole < HOUR_S:
        return tr("{count} min left", count=whole // 60)
    if whole < DAY_S:
        return tr("{hours} h {minutes} min left", hours=whole // 3600, minutes=whole % 3600 // 60)
    return tr("{count} d left", count=int(whole // DAY_S))


def ends(grant: GrantSnapshot, now: datetime) -> tuple[str, str]:
    """Returns the chip of a grant: how long it still lasts, or that it is blocked, which matters more."""
    if grant.is_held:
        return tr("Blocked until reviewed"), "warning"
    left_s = grant.expires_at - now.timestamp()
    return (time_left(left_s) if grant.expires_at and left_s < SOON_S else granted_until(grant, now)), ""


def details(grant: GrantSnapshot, now: datetime) -> str:
    """Returns further details about how long a grant lasts."""
    until = tr("Until: {when}", when=granted_until(grant, now))
    if not grant.is_held:
        return until
    tools = ", ".join(grant.held_tools)
    return f"{tr('Changed since you allowed it, so it asks again: {tools}', tools=tools)}\n{until}"


def own_permissions(count: int) -> str:
    """Returns the text for a user who has allowed nothing for longer than one call.

    Args:
        count: of servers whose own settings allow every call.
    """
    if not count:
        return tr("No standing permissions beyond each server's own")
    if count == 1:
        return tr("No standing permissions beyond each server's own (1 server allows everything)")
    return tr("No standing permissions beyond each server's own ({count} servers allow everything)", count=count)


WIDTH, MARGIN = 480, 24  # px
INNER_WIDTH = WIDTH - 2 * MARGIN
MOST_LINES = 9  # of the arguments in sight at once; the rest scrolls
FACT_WIDTH = 76
LONGEST_DESCRIPTION = 400  # characters; what matters is above, and servers write pages


def lines_box(theme: Theme, lines: Iterable[QLayout]) -> Surface:
    """Returns a box with lines, and a hairline between two of them."""
    box = Surface(theme, "surface", "border", "m")
    layout = column(box, margins=(14, 2, 14, 2))
    for index, line in enumerate(lines):
        if index:
            layout.addWidget(divider())
        layout.addLayout(line)
    return box


def facts_box(theme: Theme, facts: Iterable[tuple[str, str]]) -> Surface:
    """Returns a box with facts: their names and values."""

    def line(name: str, value: str) -> QHBoxLayout:
        result = row(margins=(0, 7, 0, 7))
        label = ElidedLabel(theme, name, "caption", "muted")
        label.setFixedWidth(FACT_WIDTH)
        result.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        result.addWidget(CodeLabel(theme, value), 1)
        return result

    return lines_box(theme, starmap(line, facts))


class ApprovalBody(QWidget):
    """A view of one frozen request; another request gets another body.

    Args:
        place: e.g. "1 of 3"; empty where nothing else waits.
        has_margins: it is in a window of its own; a sheet has margins itself.
    """

    def __init__(self, theme: Theme, request: ApprovalSnapshot, place: str, *, has_margins: bool = True) -> None:
        super().__init__()
        self._theme, self._request = theme, request
        layout = column(self, margins=(MARGIN, MARGIN, MARGIN, 16) if has_margins else (0, 0, 0, 0), spacing=12)
        layout.addLayout(self._title(place))
        if request.warnings:
            layout.addWidget(Banner(theme, "warning", tr("Look closely at this tool"), warnings(request.warnings)))
        if request.flow:
            layout.addWidget(Banner(theme, "warning", tr("It has read what strangers may have written"), because(request)))
        if request.definition_diff:
            layout.addWidget(Label(theme, tr("The tool has changed since you allowed it:"), "strong", wrap=True))
            name = tr("What is different in the tool's definition")
            layout.addWidget(DiffView(theme, request.definition_diff, name, width=INNER_WIDTH))
        facts = ((tr("Tool"), request.tool), (tr("Server"), request.server), (tr("Project"), request.project))
        layout.addWidget(facts_box(theme, (fact for fact in facts if fact[1])))
        for part in self._content():
            layout.addWidget(part)
        if not request.flow:  # said above
            layout.addLayout(self._reason())
        layout.addStretch(1)

    def set_place(self, place: str) -> None:
        self._place.setText(place)

    def _title(self, place: str) -> QHBoxLayout:
        theme, request = self._theme, self._request
        line = row(spacing=14)
        is_writing = request.category == "write"
        tile = IconTile(theme, "edit" if is_writing else "search", tone="warning" if is_writing else "neutral")
        line.addWidget(tile, 0, Qt.AlignmentFlag.AlignTop)
        words = column(spacing=1)
        words.addWidget(Label(theme, question(request), "heading", wrap=True))
        words.addWidget(Label(theme, wish(request), "body", "secondary", wrap=True))
        line.addLayout(words, 1)
        self._place = Label(theme, place, "caption", "muted", tabular=True)
        line.addWidget(self._place, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _content(self) -> Iterator[QWidget]:
        theme, request = self._theme, self._request
        if request.diff:
            yield DiffView(theme, request.diff, tr("What would change"), width=INNER_WIDTH)
        if request.arguments.strip() not in ("", "{}"):
            arguments = CodeView(theme, request.arguments, tr("What it is called with"), json=True)
            arguments.wrap(INNER_WIDTH, MOST_LINES)
            yield arguments
        if description := " ".join(request.description.split()):
            shown = description if len(description) <= LONGEST_DESCRIPTION else f"{description[:LONGEST_DESCRIPTION]}…"
            yield Label(theme, tr("Server's description: {description}", description=shown), "caption", "secondary", wrap=True)

    def _reason(self) -> QHBoxLayout:
        line = row(spacing=8)
        line.addWidget(Icon(self._theme, "shield", 14, "text.muted", "bg.window"), 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(Label(self._theme, because(self._request), "caption", "muted", wrap=True), 1)
        return line
