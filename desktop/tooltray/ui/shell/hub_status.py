"""The hub's status in words and shapes, for the foot of the navigation, the tray icon and its tooltip; and the pauses to choose from."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from enum import Enum

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.state_language import WORKING, Look, needs_person

HOUR_S = 3600.0
MORNING = time(8)  # when people begin; a pause "until tomorrow" that ended at midnight would end beside a sleeping person


def hub_words(phase: HubPhase, snapshot: HubSnapshot | None) -> tuple[Look, str]:
    """Returns the hub's status for the foot of the window's navigation: shape, colour and a word, and further details."""
    starting = Look("state-starting", "info", tr("Tooltray is starting"), turns=True)
    match phase:
        case HubPhase.TAKING_OVER:
            return starting, tr("Another Tooltray is quitting")
        case HubPhase.FAILED:
            return Look("state-error", "error", tr("Tooltray is not running")), ""
        case HubPhase.ENDING:
            return Look("state-starting", "neutral", tr("Tooltray is ending"), turns=True), tr("Stopping the servers")
        case _ if snapshot is None or phase is HubPhase.STARTING:
            return starting, ""
    if snapshot.is_paused:
        return Look("state-waiting", "warning", tr("Tooltray is paused")), paused_until(snapshot.paused_until)
    return Look("state-connected", "success", tr("Tooltray is running")), client_count(snapshot.session_count)


def client_count(count: int) -> str:
    return many(count, "1 open session", "{count} open sessions") if count else tr("No open sessions")


class TrayState(Enum):
    """The states of the tray icon; the values are the icons' files."""

    WELL = "well"
    WORKING = "working"
    ATTENTION = "attention"
    PAUSED = "paused"


def tray_state(phase: HubPhase, snapshot: HubSnapshot | None) -> TrayState:
    """Returns the hub's part of the tray icon: the worst of its states."""
    if phase is HubPhase.FAILED:
        return TrayState.ATTENTION
    if snapshot is None or phase is not HubPhase.RUNNING:
        return TrayState.WORKING
    if any(needs_person(server) for server in snapshot.servers):
        return TrayState.ATTENTION
    if snapshot.is_paused:
        return TrayState.PAUSED
    return TrayState.WORKING if any(server.state in WORKING for server in snapshot.servers) else TrayState.WELL


def waiting_words(calls: int, commands: int, questions: int) -> list[str]:
    """Returns how many tool calls and commands wait for the user's approval, and how many servers have a question."""
    words = (
        calls and many(calls, "1 call waits for your answer", "{count} calls wait for your answer"),
        commands and many(commands, "1 command waits for your approval", "{count} commands wait for your approval"),
        questions and many(questions, "1 question waits for your answer", "{count} questions wait for your answer"),
    )
    return [each for each in words if each]


def summary(phase: HubPhase, snapshot: HubSnapshot | None) -> str:
    """Returns the hub's state in one line, for the tray's tooltip and the head of its menu."""
    look, _ = hub_words(phase, snapshot)
    if snapshot is None or phase is not HubPhase.RUNNING:
        return look.word
    stuck = sum(needs_person(server) for server in snapshot.servers)
    running = sum(server.state is ServerState.RUNNING and not server.is_builtin for server in snapshot.servers)
    state = paused_until(snapshot.paused_until) if snapshot.is_paused and snapshot.paused_until else look.word
    parts = [state, client_count(snapshot.session_count)]
    if running and not snapshot.is_paused:
        parts.insert(1, many(running, "1 server running", "{count} servers running"))
    if stuck:
        parts.append(many(stuck, "1 needs you", "{count} need you"))
    return " · ".join(parts)


def paused_until(until: float) -> str:
    """Returns until when everything is paused; `until`: unix seconds, 0: until the user resumes."""
    return tr("Paused until {time}", time=moment(until, datetime.now())) if until else tr("Calls are refused")


def until_tomorrow_s(now: datetime | None = None) -> float:
    """Returns how long it is until tomorrow morning, in seconds; `now`: the user's local time."""
    now = now or datetime.now()
    end = datetime.combine(now.date() + timedelta(days=1), MORNING)
    return end.timestamp() - now.timestamp()


Duration = Callable[[], float | None]
"""Returns how many seconds a pause lasts from now; None: until the user resumes."""
PAUSE = Phrase("Pause all servers")
PAUSES: tuple[tuple[Phrase, Duration], ...] = (
    (Phrase("Pause for an hour"), lambda: HOUR_S),
    (Phrase("Pause until tomorrow"), until_tomorrow_s),
    (Phrase("Pause until I resume"), lambda: None),
)
