"""Texts about a server for its card, its line in the table and its details. Pure functions of its snapshot."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from math import ceil

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QDate, QLocale

from tooltray.foundation.errors import SECRET_MISSING, SECRETS_UNREACHABLE, Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import AWAITS_KEYRING, DID_NOT_START, LEFT_OUT, MENDED, ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost
from tooltray.ui.figures import DAYS_BY_NAME, first_names, since
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import in_a_row, sentences, title, whole

SECONDS_BELOW_S = 120  # a shorter time is said in seconds


class Action(Enum):
    """The actions of the button at a card's foot."""

    NONE = "none"
    EXPAND = "expand"
    START = "start"
    RETRY = "retry"
    CANCEL = "cancel"
    SIGN_IN = "sign in"
    CANCEL_SIGN_IN = "cancel sign-in"
    CHOOSE_FOLDER = "choose folder"
    TRUST = "trust"
    SECRET = "secret"
    UNLOCK = "unlock"


class Foot(msgspec.Struct, frozen=True):
    """The last line of a card: its activity, what happens now, or what to do next."""

    action: Action
    headline: str = ""
    detail: str = ""
    tone: str = "primary"
    explanation: str = ""  # everything, for a tooltip
    is_calm: bool = False  # it has nothing to say but how much it is used

    @property
    def has_why(self) -> bool:
        """Whether there may be more to learn about the problem; not while the user is signing in."""
        return self.tone == "error" and self.action is not Action.CANCEL_SIGN_IN


def _headline(problem: Problem) -> str:
    """Returns what happened to a server, whose name is beside it, as the beginning of a sentence."""
    text = problem.title
    return (
        title(Problem(str(text.fields["words"])))
        if isinstance(text, Phrase) and text.template == DID_NOT_START.template
        else title(problem)
    )


def foot(server: ServerSnapshot, refusal: Problem | None, now: datetime) -> Foot:
    """Returns the content for the foot of a card.

    Args:
        refusal: why the user's last action failed; None if it did not.
        now: the user's local time.
    """
    action, detail = Action.TRUST if server.waiting else own_action(server), say(server.detail)
    if refusal is not None:
        refusal = without_command(refusal)
        return Foot(action, title(refusal), _next_step(refusal), "error", whole(refusal))
    if server.waiting:
        return _waiting(server)
    match server.state:
        case ServerState.RUNNING if server.problem:  # not all that it lists is offered
            return Foot(action, title(server.problem), _next_step(server.problem), "warning", whole(server.problem))
        case ServerState.ON_DEMAND:
            meaning = in_a_row(tr("Its process is not running; the next call starts it."), stops_after(server))
            return Foot(action, traffic(server), meaning, explanation=meaning, is_calm=True)
        case ServerState.RUNNING:
            idle = stops_after(server)
            return Foot(action, idle and traffic(server), idle or traffic(server), explanation=idle, is_calm=True)
        case ServerState.WAITING:
            when, why = since(server.since, now), detail or tr("No AI client has reported which folder it works on.")
            headline = tr("Waits {since}", since=when) if when else tr("It starts when a project is known")
            return Foot(action, headline, why, explanation=why)
        case ServerState.NEEDS_SIGN_IN if server.has_sign_in_page:
            return Foot(action, tr("Waiting for the browser"), tr("Sign in on the page that has opened there."))
        case ServerState.NEEDS_SIGN_IN:
            problem = server.problem or Problem("")
            why = sentences(Problem("", problem.message)) or tr("It requires a sign-in.")  # what to do is the button beside it
            return Foot(action, tr("{name} wants you to sign in", name=server.name), why, "warning", whole(problem))
        case ServerState.ERROR:
            problem = without_command(server.problem or Problem(tr("It does not run")))
            again = sentences(Problem("", next_try(server, now)))
            return Foot(action, _headline(problem), again or _next_step(problem), "error", in_a_row(whole(problem), again))
        case ServerState.RESTARTING:
            problem = server.problem or Problem(tr("Restarting…"))  # by a person, or for a session of its own that has expired
            return Foot(action, title(problem), next_try(server, now), explanation=whole(problem))
        case ServerState.STARTING | ServerState.INSTALLING if server.detail == AWAITS_KEYRING:
            return Foot(action, detail, answer_prompt(), explanation=answer_prompt())
        case ServerState.INSTALLING:
            return Foot(action, tr("Downloading packages…"), detail or tr("Only the first start takes this long."))
        case ServerState.STARTING:
            return Foot(action, tr("Waiting for the server to respond"), detail)
        case ServerState.STOPPING:
            return Foot(action, tr("Stopping…"), detail)
        case ServerState.STOPPED:
            stays = "" if server.is_disabled else tr("It stays stopped until you start it, also when Tooltray restarts.")
            return Foot(action, stopped(server, now), explanation=stays)


def answer_prompt() -> str:
    """Returns where the prompt of the keyring is to be looked for."""
    return tr("If it asks for its password, answer there; its window may be behind this one.")


def next_try(server: ServerSnapshot, now: datetime) -> str:
    """Returns when a failed server is tried again, counted down from now; without such a time what the engine says."""
    if not server.retry_at:
        return say(server.detail)
    left = ceil(server.retry_at - now.timestamp())
    is_restart = server.state is ServerState.RESTARTING
    if left <= 0:
        return tr("Restarting now") if is_restart else tr("Retrying now")
    if left < SECONDS_BELOW_S:
        return tr("Restarting in {seconds} s", seconds=left) if is_restart else tr("Retrying in {seconds} s", seconds=left)
    minutes = ceil(left / 60)
    return tr("Restarting in {count} minutes", count=minutes) if is_restart else tr("Retrying in {count} minutes", count=minutes)


def missing_secret(problem: Problem | None) -> str:
    """Returns the name of the missing secret that keeps a server from running; empty if that is not the reason."""
    if problem is None or problem.code != SECRET_MISSING or not isinstance(problem.title, Phrase):
        return ""
    return str(problem.title.fields["name"])


def without_command(problem: Problem) -> Problem:
    """Returns the problem as the window shows it: for secrets that cannot be read without its hint, a command, since a button does that."""
    return replace(problem, hint="") if problem.code == SECRETS_UNREACHABLE else problem


def _waiting(server: ServerSnapshot) -> Foot:
    """Returns the text about a program's proposal that waits for approval."""
    if server.origin == "proposal":
        text = tr("It runs only after you have seen what it starts, and allowed it.")
        return Foot(Action.TRUST, tr("A program wants to add this server"), text, "warning")
    text = tr("It runs unchanged until you allow the change.")
    return Foot(Action.TRUST, tr("A program wants to change this server"), text, "warning")


def _next_step(problem: Problem) -> str:
    """Returns what to do, then the facts, so that the facts are cut off first."""
    if missing_secret(problem):
        return sentences(Problem("", tr("Enter it here, and the server starts."), problem.message))
    return sentences(Problem("", problem.hint, problem.message))


def own_action(server: ServerSnapshot) -> Action:
    """Returns the next action for a server itself, also while a change of it waits for approval."""
    if server.origin == "proposal":
        return Action.TRUST
    match server.state:
        case ServerState.RUNNING | ServerState.ON_DEMAND:
            return Action.EXPAND
        case ServerState.STARTING | ServerState.INSTALLING | ServerState.RESTARTING:
            return Action.CANCEL
        case ServerState.NEEDS_SIGN_IN:
            return Action.CANCEL_SIGN_IN if server.has_sign_in_page else Action.SIGN_IN
        case ServerState.ERROR:
            if server.problem is not None and server.problem.code == SECRETS_UNREACHABLE:
                return Action.UNLOCK
            return Action.SECRET if missing_secret(server.problem) else Action.RETRY
        case ServerState.STOPPED:
            return Action.START
        case ServerState.WAITING:
            return Action.CHOOSE_FOLDER
        case ServerState.STOPPING:
            return Action.NONE


FACES = {
    Action.START: (Phrase("Start"), "play"),
    Action.RETRY: (Phrase("Try again"), "refresh"),
    Action.SIGN_IN: (Phrase("Sign in"), "external"),
    Action.CHOOSE_FOLDER: (Phrase("Choose folder"), "folder"),
    Action.TRUST: (Phrase("Look"), "shield"),
    Action.SECRET: (Phrase("Enter the secret"), "key"),
    Action.UNLOCK: (Phrase("Unlock…"), "key"),
    Action.CANCEL: (Phrase("Cancel"), ""),
    Action.CANCEL_SIGN_IN: (Phrase("Cancel"), ""),
}


def button_face(action: Action) -> tuple[str, str]:
    """Returns the word and the icon of the button that carries an action out; empty for actions without a button."""
    word, icon = FACES.get(action, ("", ""))
    return say(word), icon


def stopped(server: ServerSnapshot, now: datetime) -> str:
    """Returns by whom and when a server was stopped."""
    if server.is_disabled:
        return tr("Switched off in the settings")
    if not server.since:
        return tr("You stopped it")
    then = datetime.fromtimestamp(server.since)
    locale = QLocale()
    clock = f"{then:%H:%M}"
    if then.date() == now.date():
        return tr("You stopped it at {time}", time=clock)
    if now - then < timedelta(days=DAYS_BY_NAME):
        return tr("You stopped it on {day} at {time}", day=locale.dayName(then.isoweekday()), time=clock)
    return tr("You stopped it on {date}", date=locale.toString(QDate(then.year, then.month, then.day), QLocale.FormatType.LongFormat))


def stops_after(server: ServerSnapshot) -> str:
    """Returns after how long without a call an on-demand server is stopped; empty if it stays."""
    if server.is_default or server.idle_stop_s is None:
        return ""
    if server.idle_stop_s < SECONDS_BELOW_S:
        return tr("Stops after {seconds} s without a call", seconds=f"{server.idle_stop_s:g}")
    return tr("Stops after {minutes} min without a call", minutes=f"{server.idle_stop_s / 60:.0f}")


def traffic(server: ServerSnapshot) -> str:
    """Returns how much a server is used."""
    if not server.calls_today:
        return tr("No calls today")
    calls = many(server.calls_today, "1 call today", "{count} calls today")
    return f"{calls} · {tr('{ms} ms', ms=milliseconds(server.p50_ms))}" if server.p50_ms else calls


def milliseconds(value: float) -> str:
    """Returns a duration in whole milliseconds, so that numbers in a column can be compared."""
    return "< 1" if 0 < value < 1 else f"{value:,.0f}"


def tool_count(server: ServerSnapshot, cost: ServerCost | None = None) -> str:
    """Returns how many tools a server has, or that they are not known yet. `cost`: contains which tools are enabled."""
    if not server.is_listed and not server.tool_count:
        return tr("Tools load on first start")
    if not server.tool_count:
        return tr("No tools")
    on = len(cost.tools) if cost is not None else 0
    if 0 < on < server.tool_count:
        return tr("{on} of {count} tools", on=f"{on:,}", count=f"{server.tool_count:,}")
    return many(server.tool_count, "1 tool", "{count} tools")


def flaw_words(server: ServerSnapshot) -> str:
    """Returns how many of a server's definitions are repaired or left out for AI clients; empty if none are."""
    left_out, mended = (server.flaw_counts.get(code, 0) for code in (LEFT_OUT, MENDED))
    words = (tr("{count} left out", count=left_out) if left_out else "", tr("{count} mended", count=mended) if mended else "")
    return " · ".join(filter(None, words))


MOST_FLAWS = 8  # sentences; more are no tooltip


def flaws_in_full(server: ServerSnapshot) -> str:
    """Returns the repaired and omitted definitions with the reasons."""
    if not server.flaw_counts:
        return ""
    left = len(server.flaws) - MOST_FLAWS
    more = [tr("and {count} more", count=left)] if left > 0 else []
    title = tr("What AI clients get of its tools and other definitions: {counts}", counts=flaw_words(server))
    return "\n".join((title, *server.flaws[:MOST_FLAWS], *more))


LABEL_TONES = {"blue": "info", "green": "success", "amber": "warning", "red": "error", "violet": "accent"}


def label_tone(server: ServerSnapshot) -> str:
    """Returns the tone of a server's label, which distinguishes the user's accounts."""
    return LABEL_TONES.get(server.color, "neutral")


def label_words(server: ServerSnapshot) -> str:
    """Returns a server's label in full, with the folders of the only projects that have the server."""
    where = tr("Only for {folders}", folders=", ".join(visible_path(folder) for folder in server.projects)) if server.projects else ""
    return " · ".join(filter(None, (shown_label(server), where)))


def titled(server: ServerSnapshot) -> str:
    """Returns a server's name with its label, for places with a single line."""
    label = shown_label(server)
    return f"{server.name} · {label}" if label else server.name


def shown_label(server: ServerSnapshot) -> str:
    """Returns a server's label, shortened for narrow places."""
    label = visible_path(server.label.strip())
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def facts(server: ServerSnapshot) -> list[tuple[str, str]]:
    """Returns the facts about a server besides its state: titles and values; empty for one that comes with Tooltray."""
    if server.is_builtin:
        return []
    by_itself = tr("With Tooltray") if server.is_default else tr("When a client needs it")
    starts = tr("When a project is known") if server.is_deferred else by_itself
    found = [(tr("Starts"), starts)]
    if server.isolation == "session":
        found.append((tr("Copies"), tr("One for each AI client")))
    if server.projects:
        found.append((tr("Only for"), ", ".join(visible_path(folder) for folder in server.projects)))
    return found


OPEN = frozenset(("all", "*"))  # rules that let every call run without asking


def runs_everything(server: ServerSnapshot) -> bool:
    """Returns whether every call of a server that the user has added runs without asking."""
    return not server.is_builtin and not OPEN.isdisjoint(server.auto_approve)


MOST_FOUND = 8  # tools named; more do not fit into a line


def found_words(tools: Sequence[str]) -> str:
    """Returns which tools of a server a search has found."""
    return many(len(tools), "1 tool found: {names}", "{count} tools found: {names}", names=first_names(tools, MOST_FOUND))


def reached(server: ServerSnapshot) -> str:
    """Returns the transport and the address or command of a server."""
    if server.is_builtin:
        return tr("Comes with Tooltray")
    return f"{server.transport} · {server.target}" if server.target else server.transport


def saved_processes(server: ServerSnapshot) -> str:
    """Returns how many processes were saved by starting a server without its launcher."""
    return many(server.saved_processes, "Started directly: 1 process saved", "Started directly: {count} processes saved")


LONGEST_LABEL = 18  # characters; a card has room for that beside its state
LONGEST_SIGN = 4  # an emoji may have several code points; a path or a URL has more and is no sign

ICONS = (
    (("filesystem", "files", "folder", "drive"), "folder"),
    (("git", "github", "gitlab"), "branch"),
    (("playwright", "browser", "puppeteer", "chrome"), "globe"),
    (("fetch", "download"), "download"),
    (("postgres", "sqlite", "mysql", "database", "redis", "sql"), "database"),
    (("memory", "knowledge"), "layers"),
    (("search", "brave", "exa"), "search"),
    (("time", "clock", "calendar"), "clock"),
    (("slack", "discord", "mail"), "message"),
    (("serena", "code"), "code"),
    (("shell", "terminal", "ssh"), "terminal"),
    (("everything", "context7", "tools"), "tools"),
)


def sign(server: ServerSnapshot) -> tuple[str, str]:
    """Returns the icon's file and the letters for a server's tile; one of them is empty."""
    if server.is_builtin:
        return "server", ""
    if server.icon and len(server.icon) <= LONGEST_SIGN:
        return "", server.icon
    words = server.name.lower().replace("_", "-").replace(".", "-").split("-")
    for names, icon in ICONS:
        if any(name in words for name in names):
            return icon, ""
    return "", server.name[:1].upper()
