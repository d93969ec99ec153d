"""Which news become notifications of the system while the user looks elsewhere, and how they are sent. A click opens their subject."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ClientListUpdated, ElicitationAsked, GrantsChanged, ProblemReported, ServerStarted
from tooltray.foundation.preferences import is_wanted
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, ConfirmationSnapshot, TrustRequest
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.snapshots.questions import FeedbackSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.client_names import shown_client
from tooltray.ui.feedback.feedback_words import headline, project_words
from tooltray.ui.figures import first_names
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.background import CoalescedRead, timer
from tooltray.ui.kit.destinations import Activity, Destination, OpenServer, Servers, Settings
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.origins import folder_name
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.projects.file_words import waiting_text, waiting_title
from tooltray.ui.shell.tray import Tray

SAME_WITHIN_S = 60.0  # a server that fails again and again says so once a minute
LONGEST_TITLE, LONGEST_TEXT = 100, 240  # characters; systems cut at about as many, some in the middle of a letter
CALM = ("update", "release")  # kinds that want nothing now

Go = Callable[[], object]


class Notifications(QObject):
    def __init__(self, tray: Tray, *, chosen: Callable[[], Mapping[str, bool]], now: Callable[[], float] = time.monotonic) -> None:
        """Args:
        chosen: which kinds the user has switched on or off.
        now: seconds that never jump.
        """
        super().__init__()
        self._tray, self._chosen, self._now = tray, chosen, now
        self._sent: dict[tuple[str, str, str], float] = {}
        self._go: Go | None = None
        tray.message_clicked.connect(self._on_clicked)

    def send(self, kind: str, title: str, text: str, go: Go | None = None) -> None:
        """Shows a notification, if the user wants its kind; it must contain no secret and no argument of a call, since it is visible on a
        locked screen, too.

        Args:
            kind: the name of one of preferences.KINDS; empty: it is always shown.
            go: leads to what it is about; None: to the window.
        """
        if kind and not is_wanted(kind, self._chosen()):
            return
        now, key = self._now(), (kind, title, text)
        self._sent = {each: at for each, at in self._sent.items() if now - at < SAME_WITHIN_S}
        if key in self._sent:
            return
        self._sent[key] = now
        self._go = go
        show = self._tray.tell if kind in CALM else self._tray.notify
        show(one_line(title, LONGEST_TITLE), one_line(text, LONGEST_TEXT))

    def forget(self) -> None:
        """Drops what was sent, so that the next hub's notifications are new, even equal ones."""
        self._sent.clear()

    def _on_clicked(self) -> None:
        """Opens the last notification's subject, since the system does not report which notification was clicked."""
        go, self._go = self._go, None
        (go or self._tray.open_requested.emit)()


def one_line(text: str, longest: int) -> str:
    """Returns a server's text as plain text of bounded length, since some systems read markup."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text).replace("<", "‹").replace("&", "＆")
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


UPDATES_EVERY_MS = 24 * 3600 * 1000  # as often as the copy of the registry is read again
MOST_NAMES = 4


class Places(Protocol):
    """The windows that notifications lead to, as they are now, since another language makes another main window."""

    def is_in_front(self) -> bool:
        """Returns whether the user looks at the main window."""

    def go(self, destination: Destination) -> None:
        """Shows a place in the main window."""

    def show_approvals(self) -> None: ...
    def show_confirmations(self) -> None: ...
    def show_feedback(self) -> None: ...


class NewsTeller(QObject):
    """The source of notifications. `is_first`: whether something of this name was never shown to the user."""

    def __init__(
        self, notifications: Notifications, places: Places, *, hub: QtMcpPresenter, tasks: TaskKeeper, is_first: Callable[[str], bool]
    ) -> None:
        super().__init__()
        self._notifications, self._places, self._hub, self._is_first = notifications, places, hub, is_first
        self._told: dict[str, Problem] = {}  # by server, since it last ran
        self._changed: set[tuple[str, str]] | None = None  # tools whose change is known; None: nothing is known yet
        self._release = ReleaseNews()
        self._waiting: set[str] = set()
        self._confirmations: set[str] = set()
        self._changes = CoalescedRead(self._look_at_changes, tasks=tasks, name="tools that have changed")
        self._updates = CoalescedRead(self._look_for_updates, tasks=tasks, name="newer versions of servers")
        self._timer = timer(self, UPDATES_EVERY_MS, self._updates.ask, repeats=True)
        hub.snapshot_changed.connect(self._on_snapshot_changed)
        hub.on(ServerStarted, lambda news: self._told.pop(news.server_name, None), self)
        hub.on(ProblemReported, self._on_problem_reported, self)
        hub.on(ElicitationAsked, self._on_elicitation_asked, self)
        hub.on_any((GrantsChanged, ClientListUpdated), self._changes.ask, self)

    def begin(self) -> None:
        """Begins to watch a hub that runs."""
        self._changed = None
        self._changes.ask()
        self._updates.ask()
        self._timer.start()

    def forget(self) -> None:
        """Drops what was notified, since the next hub may have the same news."""
        self._told.clear()
        self._waiting.clear()
        self._confirmations.clear()
        self._timer.stop()
        self._notifications.forget()

    # what has happened

    def on_approvals(self, waiting: Sequence[ApprovalSnapshot]) -> None:
        """Notifies the user of new calls that wait for approval."""
        new = [each for each in waiting if not (each.is_quiet or each.id in self._waiting or each.replaces in self._waiting)]
        self._waiting = {each.id for each in waiting}
        if not new or self._places.is_in_front():
            return
        call = new[-1]
        client, tool = shown_client(call.client), call.tool
        who = tr("{client} wants to use {tool}", client=client, tool=tool) if client else tr("{tool} waits", tool=tool)
        where = tr("{server} · {project}", server=call.server, project=folder_name(call.project)) if call.project else call.server
        self._notifications.send("approval", who, where, self._places.show_approvals)

    def on_confirmations(self, waiting: Sequence[ConfirmationSnapshot]) -> None:
        """Notifies the user of new commands that wait for approval."""
        new = [each for each in waiting if each.id not in self._confirmations]
        self._confirmations = {each.id for each in waiting}
        if new and not self._places.is_in_front():
            text = tr("Look at it in Tooltray's window; without an answer it is declined.")
            self._notifications.send("confirmation", tr("A command asks for permission"), text, self._places.show_confirmations)

    def on_trust_asked(self, requests: Sequence[TrustRequest]) -> None:
        if not self._places.is_in_front():
            self._notifications.send("trust", waiting_title(requests), waiting_text(requests), partial(self._places.go, Servers()))

    def on_feedback_asked(self, request: FeedbackSnapshot) -> None:
        text = tr("{project}: it waits for your answer.", project=project_words(request))
        self._notifications.send("feedback", headline(request), text, self._places.show_feedback)

    def _on_snapshot_changed(self) -> None:
        """Notifies the user once of each newer version, and once that the running one was withdrawn."""
        snapshot = self._hub.snapshot
        if snapshot is None or snapshot.release == self._release:
            return
        release = self._release = snapshot.release
        go = partial(self._places.go, Settings("about"))
        if release.withdrawn and self._is_first(f"withdrawn:{snapshot.version}"):
            self._notifications.send("release", tr("Tooltray {version} was withdrawn", version=snapshot.version), release.withdrawn, go)
        if release.version and self._is_first(f"release:{release.version}"):
            self._notifications.send("release", tr("Tooltray {version} is available", version=release.version), say(release.update), go)

    def _on_elicitation_asked(self, news: ElicitationAsked) -> None:
        if not self._places.is_in_front():
            text = tr("Its question is in Tooltray's window.")
            self._notifications.send("question", tr("{name} asks you something", name=news.question.server), text)

    def _on_problem_reported(self, report: ProblemReported) -> None:
        if self._told.get(report.server) == report.problem:
            return  # nothing has changed since
        if report.server:
            self._told[report.server] = report.problem
        if self._places.is_in_front():
            return
        servers = self._hub.snapshot.servers if self._hub.snapshot is not None else ()
        wants_sign_in = any(each.name == report.server and each.state is ServerState.NEEDS_SIGN_IN for each in servers)
        kind = "sign_in" if wants_sign_in else "failed" if report.server else ""
        words = tr("{name} wants you to sign in", name=report.server) if wants_sign_in else whose(report)
        place = OpenServer(report.server) if report.server else Servers()
        self._notifications.send(kind, words, advice(report.problem), partial(self._places.go, place))

    # what is asked for

    async def _look_at_changes(self) -> None:
        changes = await self._hub.approvals.get_tool_changes()
        now = {(change.server, change.tool) for change in changes}
        new = sorted(now - self._changed) if self._changed is not None else []
        self._changed = now
        if new and not self._places.is_in_front():
            server, tool = new[0]
            more = len(new) - 1
            words = tr("{tool} of {server} has changed", tool=tool, server=server)
            if more:
                words = tr("{tool} of {server} and {count} more have changed", tool=tool, server=server, count=more)
            text = tr("You had allowed it as it was. Until you look, its calls are asked about.")
            if any(change.kind == "skill" for change in changes if (change.server, change.tool) == new[0]):
                text = tr("It is a skill. Until you look, no AI client gets it.")
            self._notifications.send("tool_changed", words, text, partial(self._places.go, Activity("approvals")))

    async def _look_for_updates(self) -> None:
        updates = await self._hub.discovery.get_registry_updates()
        new = [update.server for update in updates if self._is_first(f"update:{update.server}:{update.newest}")]
        if new:
            words = tr("Update available: {names}", names=first_names(new, MOST_NAMES))
            text = tr("It is installed only when you approve.")
            self._notifications.send("update", words, text, partial(self._places.go, OpenServer(new[0])))


def whose(report: ProblemReported) -> str:
    """Returns the title of a problem with its server's name, since a notification has no other context."""
    shown = title(report.problem)
    is_named = not report.server or f"'{report.server}'" in shown
    return shown if is_named else f"{report.server}: {shown}"


def advice(problem: Problem) -> str:
    """Returns the text below a notification's title: what to do, and never a server's output or arguments."""
    return sentences(Problem("", hint=problem.hint)) or tr("The Tooltray window has the details.")
