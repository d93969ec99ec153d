"""The window for a command that waits for the user's approval: what it wants to allow, the details, and the programs that started it."""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import UNTIL_REVOKED, ConfirmationSnapshot
from tooltray.ui.approval.approval_body import MARGIN, facts_box
from tooltray.ui.approval.asking_window import AskingWindow
from tooltray.ui.client_names import shown_client
from tooltray.ui.confinement_words import FILES, NETWORKS, files_title, network_title
from tooltray.ui.figures import duration
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon, IconTile
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

DURATIONS = frozenset({"expires_in_s", "duration_s"})
"""Facts in seconds."""
NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")


def heading() -> str:
    return tr("Let a command allow something?")


def wish(request: ConfirmationSnapshot) -> str:
    """Returns what a command wants, as a sentence."""
    return whole(Problem(request.what))


def fact_name(name: str) -> str:
    """Returns the name of a detail for the user; an unknown one keeps its own."""
    names = {
        "server": tr("Server"),
        "tool": tr("Tool"),
        "client": tr("AI client"),
        "project": tr("Project"),
        "folder": tr("Folder"),
        "path": tr("Folder"),
        "kind": tr("Kind"),
        "name": tr("Name"),
        "files": tr("Files"),
        "network": tr("Network"),
        "hosts": tr("Hosts"),
        "read": tr("May read"),
        "write": tr("May change"),
        "rule": tr("Rule"),
        "rules": tr("Rules"),
        "rules_before": tr("Before"),
        "entries": tr("Servers"),
        "commands": tr("Command"),
        "digests": tr("Fingerprint"),
        "definitions": tr("Fingerprint"),
        "expires_in_s": tr("How long"),
        "duration_s": tr("How long"),
        "secrets": tr("Secrets"),
        "token": tr("Token"),
        "scope": tr("Scope"),
        "settings": tr("Settings"),
        "changes": tr("Changes"),
        "session": tr("Session"),
        "until": tr("How long"),
        "changed": tr("Changed arguments"),
    }
    return names.get(name, name)


def fact_value(name: str, value: str) -> str:
    """Returns the value of a detail for the user; an unknown one stays unchanged."""
    if name == "files" and value in FILES:
        return files_title(value)
    if name == "network" and value in NETWORKS:
        return network_title(value)
    if name in DURATIONS and NUMBER.fullmatch(value):
        return tr("for {duration}", duration=duration(float(value)))
    words = {
        ("kind", "tool"): tr("One tool"),
        ("kind", "reads"): tr("Everything that reads"),
        ("until", "lock"): tr("until the screen locks"),
        ("until", UNTIL_REVOKED): tr("until you revoke it"),
    }
    return words.get((name, value)) or say(value)


def origin(request: ConfirmationSnapshot) -> str:
    """Returns which programs started a command, as a sentence."""
    if not request.origin:
        return tr("The system does not identify the program that asks.")
    first, *others = request.origin
    if not others:
        return tr("It comes from {program}.", program=first)
    return tr("It comes from {program}, started by {others}.", program=first, others=", ".join(others))


class ConfirmationBody(QWidget):
    """A view of one frozen request.

    Args:
        place: e.g. "1 of 3"; empty where nothing else waits.
    """

    def __init__(self, theme: Theme, request: ConfirmationSnapshot, place: str) -> None:
        super().__init__()
        self._theme, self._request = theme, request
        layout = column(self, margins=(MARGIN, MARGIN, MARGIN, 16), spacing=12)
        layout.addLayout(self._title(place))
        if request.ai_client:
            text = tr("If you typed it there in a terminal, it is yours. Otherwise, decline it.")
            layout.addWidget(
                Banner(theme, "warning", tr("It comes from {client}, an AI client", client=shown_client(request.ai_client)), text)
            )
        if request.facts:
            layout.addWidget(facts_box(theme, [(fact_name(name), fact_value(name, value)) for name, value in request.facts]))
        for line in self._lines():
            layout.addLayout(line)
        layout.addStretch(1)

    def set_place(self, place: str) -> None:
        self._place.setText(place)

    def _title(self, place: str) -> QHBoxLayout:
        line = row(spacing=14)
        line.addWidget(IconTile(self._theme, "shield", tone="warning"), 0, Qt.AlignmentFlag.AlignTop)
        words = column(spacing=1)
        words.addWidget(Label(self._theme, heading(), "heading", wrap=True))
        words.addWidget(Label(self._theme, wish(self._request), "body", "secondary", wrap=True))
        line.addLayout(words, 1)
        self._place = Label(self._theme, place, "caption", "muted", tabular=True)
        line.addWidget(self._place, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _lines(self) -> Iterator[QHBoxLayout]:
        yield self._line("terminal", origin(self._request))
        if self._request.count > 1:
            yield self._line("info", tr("{count} commands wait for this answer.", count=self._request.count))

    def _line(self, icon: str, text: str) -> QHBoxLayout:
        line = row(spacing=8)
        line.addWidget(Icon(self._theme, icon, 14, "text.muted", "bg.window"), 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(Label(self._theme, text, "caption", "muted", wrap=True), 1)
        return line


class ConfirmationWindow(AskingWindow[ConfirmationSnapshot]):
    """A window with a command's request. It is answered with whether it is approved."""

    def ask(self, request: ConfirmationSnapshot, count: int) -> None:
        place = tr("1 of {count}", count=count) if count > 1 else ""
        before = self._request
        if before is not None and isinstance(self._body, ConfirmationBody) and replace(before, count=request.count) == request:
            self._body.set_place(place)
            return
        self._request = request
        self.setAccessibleName(f"{heading()} {wish(request)}")
        self.setAccessibleDescription(origin(request))
        self._yes.show()
        self._no.setText(tr("No"))
        self._show_body(ConfirmationBody(self._theme, request, place))

    def _buttons(self) -> QHBoxLayout:
        line = row(margins=(24, 16, 24, 12))
        self._no = Button(self._theme, tr("No"), heeds_enter=False)
        self._yes = Button(self._theme, tr("Yes, allow it"), "primary", heeds_enter=False)
        self._yes.setToolTip("Ctrl+Enter")
        self._no.clicked.connect(lambda: self._answer(False))
        self._yes.clicked.connect(lambda: self._answer(True))
        line.addStretch(1)
        line.addWidget(self._no)
        line.addWidget(self._yes)
        return line

    def _yes_buttons(self) -> Iterable[QPushButton]:
        return (self._yes,)

    def _no_button(self) -> QPushButton:
        return self._no

    def _answer(self, is_yes: bool) -> None:
        self._send(is_yes)
