"""Texts about models' reports and the answers to them. Pure functions."""

import os

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import FeedbackEntry, FeedbackSnapshot
from tooltray.ui.client_names import shown_client
from tooltray.ui.i18n import say, tr

READY_ANSWERS = (Phrase("Continue"), Phrase("Looks good, commit it"), Phrase("Show me the diff"), Phrase("Stop here"))
OUTCOMES = {
    "answered": Phrase("You answered"),
    "dismissed": Phrase("You closed it without an answer"),
    "expired": Phrase("No answer in time"),
    "withdrawn": Phrase("The AI client gave up"),
    "replaced": Phrase("A newer report took its place"),
    "waiting": Phrase("Waits for an answer"),
}


def headline(request: FeedbackSnapshot) -> str:
    if not request.client:
        return tr("An AI client has finished a step")
    return tr("{client} has finished a step", client=shown_client(request.client))


def window_title(request: FeedbackSnapshot) -> str:
    name = request.project_name or short_path(request.project_path) or shown_client(request.client)
    return tr("Feedback for {project}", project=name) if name else tr("Feedback")


def project_words(request: FeedbackSnapshot) -> str:
    """Returns the project's name, or its folder's name, or a text for no project."""
    return request.project_name or os.path.basename(request.project_path) or tr("No project")


def place_words(request: FeedbackSnapshot, now: float) -> str:
    """Returns the project of a report and how long the report has waited; `now` is in unix seconds."""
    time = duration_words(now - request.asked_at)
    if not request.project_path:
        name = request.project_name
        return tr("Project {name} · waiting for {time}", name=name, time=time) if name else tr("No project · waiting for {time}", time=time)
    path = short_path(request.project_path)
    name = project_words(request)
    return tr("Project {name} · {path} · waiting for {time}", name=name, path=path, time=time)


def short_path(path: str) -> str:
    """Returns a path with `~` for the user's home folder."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if home != "/" and path.startswith(f"{home}/") else path


def duration_words(seconds: float) -> str:
    """Returns minutes and seconds like a clock, with hours for longer times."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def ready_answer_words(answer: str) -> str:
    """Returns one of Tooltray's ready answers in the user's language; an answer that the user wrote stays unchanged."""
    return say(next((known for known in READY_ANSWERS if known == answer), answer))


def outcome_words(entry: FeedbackEntry) -> str:
    return say(OUTCOMES.get(entry.outcome, entry.outcome))
