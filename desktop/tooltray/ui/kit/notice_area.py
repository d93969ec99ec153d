"""The window's notices, of which the header of the current page shows the most important one, in a line."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.figures import first_names, moment
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import NoticeLine
from tooltray.ui.widgets.button import Button, IconButton, leave_focus
from tooltray.ui.widgets.surface import clear, column

MOST_NAMES = 6  # of servers in one notice


class NoticeArea(QWidget):
    """The place for the most important notice: the hub's failure, else that it is paused, else a problem of the secrets, else what waits
    for the user's approval, else the first notice that was not dismissed, else that servers change things without asking, else whether new
    versions are looked for. `look_requested` and `put_off_requested` are about what waits, `report_requested` carries a report about a bug,
    `updates_chosen` whether new versions are looked for.
    """

    retry_requested = Signal()
    resume_requested = Signal()
    report_requested = Signal(str)
    secrets_choice_requested = Signal(str, str)
    look_requested = Signal()
    put_off_requested = Signal()
    ask_first_requested = Signal()  # of servers that run everything
    keep_open_requested = Signal()
    updates_chosen = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._facts: dict[str, tuple[Any, ...] | None] = {}  # what the line of a kind of notice is made of; None: there is no such notice
        self._reports: dict[Problem, str] = {}
        self._notices: tuple[Problem, ...] = ()
        self._extra: tuple[Problem, ...] = ()
        self._put_away: set[Problem] = set()
        self._shown: tuple[object, ...] = ()
        self._layout = column(self)
        self.hide()

    def set_failure(self, problem: Problem | None) -> None:
        """Shows why the hub does not run; None hides it."""
        self._set("failure", (problem,) if problem is not None else None)

    def set_paused(self, is_paused: bool, until: float = 0.0) -> None:
        """Shows that calls of AI clients are refused; `until`: unix seconds, 0: until the user resumes."""
        self._set("paused", (until,) if is_paused else None)

    def set_secrets_problem(self, problem: Problem | None, backend: str = "") -> None:
        """Shows why secrets cannot be used.

        Args:
            backend: where they are kept.
        """
        self._set("secrets", (problem, backend) if problem is not None else None)

    @property
    def has_secrets_problem(self) -> bool:
        """Whether secrets cannot be used, also where a more important notice is shown."""
        return self._facts.get("secrets") is not None

    @property
    def open_servers(self) -> tuple[str, ...]:
        """The servers that run everything without asking, as far as the user is asked about them."""
        return self._facts.get("open") or ()

    def open_secrets_help(self) -> bool:
        """Opens the ways out at the notice about secrets; returns whether that is the one in sight."""
        line = self.findChild(NoticeLine) if self._shown[:1] == ("secrets",) else None
        if line is None or not line.isVisible():
            return False
        line.show_details()
        return True

    def set_waiting(self, words: tuple[str, str] | None) -> None:
        """Shows what waits for the user's approval: a title and a sentence; None hides it."""
        self._set("waiting", words)

    def set_open_servers(self, names: Sequence[str]) -> None:
        """Offers to make servers ask that run everything without asking; without names nothing is offered."""
        self._set("open", tuple(names) or None)

    def set_updates_question(self, is_asked: bool) -> None:
        """Asks whether new versions of Tooltray are looked for."""
        self._set("updates", () if is_asked else None)

    def set_notices(self, notices: Sequence[Problem]) -> None:
        """Shows the hub's notices, e.g. about its settings; a notice that the hub has withdrawn is removed, also if it was added by
        `add_notice`.
        """
        over = set(self._notices).difference(notices)
        self._extra = tuple(notice for notice in self._extra if notice not in over)
        self._notices = tuple(notices)
        self._show_notices()

    def add_notice(self, problem: Problem) -> None:
        """Shows a new problem, even if the same one was dismissed before."""
        self._put_away.discard(problem)
        if problem not in self._extra:
            self._extra = (*self._extra, problem)
        self._show_notices()

    def add_bug(self, problem: Problem, report: str) -> None:
        """Shows an error of the program itself, with a report of all that is known about it."""
        self._reports[problem] = report
        self.add_notice(problem)

    def _show_notices(self) -> None:
        shown = [notice for notice in dict.fromkeys((*self._extra, *self._notices)) if notice not in self._put_away]
        self._set("notice", (shown[0], len(shown) - 1) if shown else None)

    def _set(self, kind: str, facts: tuple[object, ...] | None) -> None:
        """Sets what the line of a kind of notice is made of, and shows the most important line."""
        self._facts[kind] = facts
        kind = next((each for each in LINES if self._facts.get(each) is not None), "")
        facts = self._facts.get(kind) or ()
        if kind == "secrets" and (help := self.findChild(SecretsHelp)) is not None:
            help.set_problem(cast(Problem, facts[0]))  # a passphrase that is being typed stays
        elif (kind, *facts) != self._shown:
            self._shown = (kind, *facts)
            leave_focus(self)
            clear(self._layout)
            if kind:
                self._layout.addWidget(LINES[kind](self, *facts))
            self.setVisible(bool(kind))

    def _failure_line(self, problem: Problem) -> NoticeLine:
        retry = self._button("refresh", tr("Try again"), self.retry_requested.emit)
        return NoticeLine(self._theme, "error", title(problem), sentences(problem), retry)

    def _paused_line(self, until: float) -> NoticeLine:
        resume = self._button("play", tr("Resume"), self.resume_requested.emit)
        name = tr("Everything is paused")
        if until:
            name = tr("Everything is paused until {time}", time=moment(until, datetime.now()))
        return NoticeLine(self._theme, "warning", name, tr("AI clients see their tools; every call is refused."), resume)

    def _secrets_line(self, problem: Problem, _backend: str) -> NoticeLine:
        facts = sentences(Problem("", problem.message))  # what to do is behind the button
        return NoticeLine(self._theme, "warning", title(problem), facts, content=(tr("Unlock…"), self._secrets_help))

    def _secrets_help(self) -> SecretsHelp:
        help = SecretsHelp(self._theme, *(self._facts["secrets"] or ()))
        help.chosen.connect(self.secrets_choice_requested)
        help.chosen.connect(lambda _, passphrase: passphrase or help.window().close())  # else it keeps the keyboard from a keyring's prompt
        return help

    def _waiting_line(self, name: str, text: str) -> NoticeLine:
        look = self._button("", tr("See what they start"), self.look_requested.emit)
        return NoticeLine(self._theme, "info", name, text, look, self._close(tr("Dismiss this notice"), self.put_off_requested.emit))

    def _notice_line(self, problem: Problem, more: int) -> NoticeLine:
        remark = many(more, "1 more notice", "{count} more notices") if more else ""
        buttons: list[Button] = [self._close(tr("Dismiss this notice"), partial(self._put_away_notice, problem))]
        if report := self._reports.get(problem):
            buttons.insert(0, self._button("copy", tr("Copy report"), partial(self.report_requested.emit, report)))
        return NoticeLine(self._theme, "warning", title(problem), sentences(problem), *buttons, more=remark)

    def _open_line(self, *names: str) -> NoticeLine:
        tighten = self._button("", tr("Ask first"), self.ask_first_requested.emit)
        close = self._close(tr("Leave it as it is"), self.keep_open_requested.emit)
        words = many(len(names), "1 server changes things without asking", "{count} servers change things without asking")
        return NoticeLine(self._theme, "info", words, first_names(names, MOST_NAMES), tighten, close)

    def _updates_line(self) -> NoticeLine:
        yes = self._button("", tr("Yes"), partial(self.updates_chosen.emit, True))
        no = self._button("", tr("No"), partial(self.updates_chosen.emit, False))
        text = tr("Reads a public list, without your version or any ID.")
        return NoticeLine(self._theme, "info", tr("Check for new versions of Tooltray once a day?"), text, yes, no)

    def _put_away_notice(self, problem: Problem) -> None:
        self._put_away.add(problem)
        self._show_notices()

    def _button(self, icon: str, text: str, slot: Callable[[], object]) -> Button:
        return Button(self._theme, text, icon=icon, small=True, on_click=slot)

    def _close(self, name: str, slot: Callable[[], object]) -> IconButton:
        return IconButton(self._theme, "x", name, small=True, on_click=slot)


LINES: Mapping[str, Callable[..., NoticeLine]] = {
    "failure": NoticeArea._failure_line,
    "paused": NoticeArea._paused_line,
    "secrets": NoticeArea._secrets_line,
    "waiting": NoticeArea._waiting_line,
    "notice": NoticeArea._notice_line,
    "open": NoticeArea._open_line,
    "updates": NoticeArea._updates_line,
}
"""What makes the line of each kind of notice, the most important one first."""
