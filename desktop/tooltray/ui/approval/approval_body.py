"""What a waiting tool call is: who wants what, with which arguments, what it would change, and why it needs approval."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import starmap
from pathlib import PurePosixPath

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, GrantSnapshot, TrustRequest
from tooltray.ui.client_names import shown_client
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.origins import folder_name
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CodeView, DiffView
from tooltray.ui.widgets.icon import Icon, IconTile
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label, breakable
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.zoom import px

HOUR_S, DAY_S = 3600.0, 86400.0
SOON_S = 7 * DAY_S  # what ends later is said by its day


PLACES = ("path", "file_path", "filepath", "filename", "file", "source", "destination", "directory", "folder", "dir")
COMMANDS = ("command", "cmd")
"""Arguments that say what a call is about, by the names that servers give them."""
MAKES_FOLDER = re.compile(r"(create|make)[^a-z]?(dir(s|ectory|ectories)?|folders?)(?![a-z])|mkdir", re.IGNORECASE)
VERBS: tuple[tuple[Sequence[str], str, Sequence[str], Phrase], ...] = (
    (("mkdir",), "write", PLACES, Phrase("Create {object}?", object="")),
    (("write", "create", "save"), "write", PLACES, Phrase("Write {object}?", object="")),
    (("edit", "update", "modify", "patch", "replace", "append", "insert"), "write", PLACES, Phrase("Edit {object}?", object="")),
    (("delete", "remove", "trash"), "write", PLACES, Phrase("Delete {object}?", object="")),
    (("move", "rename"), "write", PLACES, Phrase("Move {object}?", object="")),
    (("copy",), "write", PLACES, Phrase("Copy {object}?", object="")),
    (("run", "execute", "exec", "bash", "shell"), "write", COMMANDS, Phrase("Run {object}?", object="")),
    (("read", "get", "view", "open"), "read", PLACES, Phrase("Read {object}?", object="")),
    (("list",), "read", PLACES, Phrase("List {object}?", object="")),
)
"""First words of tools' names, the category to which they belong, the arguments that name their object, and the question. The words are
ours, not the server's: a tool cannot choose the verb of the title, and its name stands only behind "Run"."""
LONGEST_OBJECT = 48  # characters


def question(request: ApprovalSnapshot) -> str:
    """Returns what the call would do, as a question: with its verb and its object where both are known, else with the tool's name."""
    if deed := _deed(request):
        return deed
    if request.diff:
        client = shown_client(request.client) or tr("An AI client")
        return tr("Let {client} make this change?", client=client)
    tool, title = _short(request.tool), _short(request.title)
    if title.isprintable() and title.casefold() not in ("", tool.casefold()):
        return tr("Run {tool} (“{title}”)?", tool=tool, title=title)
    return tr("Run {tool}?", tool=tool)


def _deed(request: ApprovalSnapshot) -> str:
    """Returns the question with its verb and object; empty where the name says no verb of ours, or the arguments no object."""
    first = re.split(r"[^a-z]|(?<=[a-z])(?=[A-Z])", request.tool, maxsplit=1)[0]
    word = "mkdir" if MAKES_FOLDER.match(request.tool) else first
    for words, category, names, asked in VERBS:
        if word in words and category == request.category and (found := told(request, names)):
            object = _short(found if names is COMMANDS else PurePosixPath(found.replace("\\", "/")).name or found)
            if words[0] == "write" and any(line.startswith("-") for line in request.diff):
                return tr("Overwrite {object}?", object=object)
            return say(asked.filled(object=object))
    return ""


def told(request: ApprovalSnapshot, names: Sequence[str]) -> str:
    """Returns the first of these arguments that has a text; empty for a text of several lines or with invisible characters."""
    try:
        arguments = json.loads(request.arguments)
    except (ValueError, RecursionError):  # cut, since it is long
        return ""
    values = (arguments.get(name) for name in names) if isinstance(arguments, dict) else ()
    found = next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")
    return found if found.isprintable() else ""


def _short(text: str) -> str:
    half = LONGEST_OBJECT // 2
    return text if len(text) <= LONGEST_OBJECT else f"{text[:half]}…{text[-half:]}"


def wish(request: ApprovalSnapshot) -> str:
    """Returns who wants to use which tool of which server, and for which project."""
    return " · ".join(filter(None, (shown_client(request.client) or tr("An AI client"), request.tool, request.server, request.project)))


def because(request: ApprovalSnapshot) -> str:
    """Returns why approval is needed, as a sentence."""
    return whole(Problem(request.why))


def warnings(found: Sequence[str]) -> str:
    """Returns what is unusual in a definition, a sentence on each line."""
    return "\n".join(whole(Problem(warning)) for warning in found)


LASTING = ("like", "session", "hour", "day", "lock", "always", "reads")
"""Answers in a menu, the shortest first."""


def lasting_choice(choice: str, request: ApprovalSnapshot) -> str:
    """Returns the words of one of LASTING."""
    tool, server, client = request.tool, request.server, shown_client(request.client) or tr("An AI client")
    words = {
        "like": tr("Allow {tool} for {count} seconds, whatever it is called with", tool=tool, count=request.like_for_s),
        "session": tr("Allow {tool} for this session", tool=tool),
        "hour": tr("Allow {tool} for an hour", tool=tool),
        "day": tr("Allow {tool} for a day", tool=tool),
        "lock": tr("Allow {tool} until the screen locks", tool=tool),
        "reads": tr("Always allow everything of {server} that reads, for {client}", server=server, client=client),
    }
    return words.get(choice) or tr("Always allow {tool} for {client}", tool=tool, client=client)


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
        return shown_client(grant.client) or tr("One session")
    return shown_client(grant.client) or tr("All clients")


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


def waiting_call(call: ApprovalSnapshot) -> str:
    """Returns which client wants what."""
    client = shown_client(call.client) or tr("An AI client")
    return tr("{client} wants to use {tool} of {server}", client=client, tool=call.tool, server=call.server)


def waiting_entries(requests: Sequence[TrustRequest]) -> str:
    """Returns what waits for one project, or for programs."""
    project, count = requests[0].project, len(requests)
    if not project:
        return many(count, "{name} waits for your approval", "{count} servers wait for your approval", name=requests[0].entry)
    return many(count, "{folder} brings 1 server. Allow it?", "{folder} brings {count} servers. Allow them?", folder=folder_name(project))


WIDTH, MARGIN = 480, 24  # px
INNER_WIDTH = WIDTH - 2 * MARGIN
MOST_LINES = 9  # of the arguments in sight at once; the rest scrolls
FACT_WIDTH = 76
LONGEST_DESCRIPTION = 400  # characters; what matters is above, and servers write pages


def hint_line(theme: Theme, icon: str, text: str, tone: str = "muted", *, behind: str = "bg.window") -> QHBoxLayout:
    """Returns a sentence with its sign; `behind`: the colour below the sign."""
    line = row()
    color = "text.muted" if tone == "muted" else f"{tone}.text"
    line.addWidget(Icon(theme, icon, 14, color, behind), 0, Qt.AlignmentFlag.AlignTop)
    return fill(line, (Label(theme, text, "caption", tone, wrap=True), 1))


def facts_box(theme: Theme, facts: Iterable[tuple[str, str]], *, has_words: bool = False) -> Surface:
    """Returns a box with facts: their names and values, which are words or code."""

    def line(name: str, value: str) -> QHBoxLayout:
        result = row(margins=(0, 7, 0, 7))
        label = ElidedLabel(theme, name, "caption", "muted", hugs=True)
        label.setFixedWidth(px(FACT_WIDTH))
        result.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        if has_words:
            label.setMinimumHeight(theme.line("body"))
            words = Label(theme, breakable(value), "body", wrap=True)
            words.setAccessibleName(value)
        result.addWidget(words if has_words else CodeLabel(theme, value), 1)
        return result

    return lines_box(theme, starmap(line, facts), margin=2)


def body_lines(body: QWidget, margin: int) -> QVBoxLayout:
    """Makes the layout of what is shown of a request; `margin`: px around it."""
    return column(body, margins=(margin, margin, margin, 16 if margin else 0), spacing=12)


class RequestBody(QWidget):
    """The base of the views of requests: a title with words below it. `lines` is the layout for the rest.

    Args:
        place: e.g. "1 of 3"; empty where nothing else waits.
        margin: px around it.
    """

    def __init__(self, theme: Theme, tile: IconTile, heading: str, below: Label, place: str, *, margin: int) -> None:
        super().__init__()
        self.lines = body_lines(self, margin)
        words = fill(column(spacing=1), Label(theme, heading, "heading", wrap=True), below)
        self._place = Label(theme, place, "caption", "muted", tabular=True)
        line = row(spacing=14)
        line.addWidget(tile, 0, Qt.AlignmentFlag.AlignTop)
        line.addLayout(words, 1)
        line.addWidget(self._place, 0, Qt.AlignmentFlag.AlignTop)
        self.lines.addLayout(line)

    def set_place(self, place: str) -> None:
        self._place.setText(place)


class ApprovalBody(RequestBody):
    """A view of one frozen request; another request gets another body. `edit` lets the user change the arguments."""

    def __init__(self, theme: Theme, request: ApprovalSnapshot, place: str, edit: Callable[[], None], *, margin: int) -> None:
        is_writing = request.category == "write"
        tile = IconTile(theme, "edit" if is_writing else "search", tone="warning" if is_writing else "neutral")
        who = Label(theme, breakable(wish(request)), "caption", "muted", wrap=True)
        super().__init__(theme, tile, question(request), who, place, margin=margin)
        who.setAccessibleName(wish(request))
        self._theme, self._request, self._edit = theme, request, edit
        fill(self.lines, *self._parts())
        if not request.flow:  # said above
            words = because(request)
            if request.is_declined:
                words += " " + tr("Your answer counts for the next identical call.")
            self.lines.addLayout(hint_line(theme, "shield", words))
        if description := " ".join(request.description.split()):
            fill(self.lines, *self._folded(description))
        self.lines.addStretch(1)

    def _parts(self) -> Iterator[QWidget]:
        theme, request = self._theme, self._request
        if request.warnings:
            yield Banner(theme, "warning", tr("Look closely at this tool"), warnings(request.warnings))
        if request.flow:
            yield Banner(theme, "warning", tr("It has read what strangers may have written"), because(request))
        if request.definition_diff:
            yield Label(theme, tr("The tool has changed since you allowed it:"), "strong", wrap=True)
            name = tr("What is different in the tool's definition")
            yield DiffView(theme, request.definition_diff, name, width=px(INNER_WIDTH))
        if path := told(request, PLACES):
            yield facts_box(theme, [(tr("Path"), path)])
        if request.diff:
            yield DiffView(theme, request.diff, tr("What would change"), width=px(INNER_WIDTH))
        if request.arguments.strip() not in ("", "{}"):
            arguments = CodeView(theme, request.arguments, tr("What it is called with"), json=True)
            arguments.wrap(px(INNER_WIDTH), MOST_LINES)
            yield arguments
        if request.is_editable:
            yield Button(theme, tr("Edit arguments…"), "link", "edit", small=True, heeds_enter=False, on_click=self._edit)

    def _folded(self, description: str) -> Iterator[QWidget]:
        """Yields a button, and what it shows: the server's words, which are no reason to allow anything."""
        shown = description if len(description) <= LONGEST_DESCRIPTION else f"{description[:LONGEST_DESCRIPTION]}…"
        label = Label(self._theme, shown, "caption", "secondary", wrap=True)
        label.hide()
        fold = Button(self._theme, tr("Server's description"), "link", "chevron-right", small=True, heeds_enter=False)
        fold.setCheckable(True)
        fold.toggled.connect(label.setVisible)
        fold.toggled.connect(lambda is_open: fold.set_face(fold.text(), "chevron-down" if is_open else "chevron-right"))
        yield fold
        yield label
