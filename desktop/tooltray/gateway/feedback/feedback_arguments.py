"""Parses the arguments of `collect_feedback` leniently, makes them safe to display, and notes each correction for the model.

Above it: feedback_tool. Below it: elicitation_form's plain text. Does not decide whether a folder may be a project.
"""

import math
import os
from collections.abc import Mapping

import msgspec

from tooltray.protocol.sessions.elicitation_form import plain

LONGEST_SUMMARY = 20_000  # characters; a person reads no more
LONGEST_PROJECT_NAME, LONGEST_SHOWN_PATH = 100, 4096
LEAST_WAIT_S = 600.0  # models tend to give a person only half a minute
MOST_WAIT_S = 86400.0  # a day; also the default
NO_SUMMARY = "work_summary is missing: say in Markdown what you have done, and what you want to know"


class BadArguments(Exception):
    """The required argument is missing; the text tells the model which."""


class FeedbackArguments(msgspec.Struct, frozen=True):
    """
    Attributes:
        project_name, project_path: as the model wrote them; empty if missing.
        wait_s: how many seconds the report waits for the person.
        remarks: notes for the model about its arguments.
    """

    summary: str
    project_name: str
    project_path: str
    wait_s: float
    remarks: tuple[str, ...]

    @property
    def shown_path(self) -> str:
        """The normalized folder for display and for the history; empty if the path is not absolute and printable."""
        path = self.project_path
        is_one = os.path.isabs(path) and path.isprintable() and len(path) <= LONGEST_SHOWN_PATH
        return os.path.normpath(path) if is_one else ""


def read_arguments(arguments: object) -> FeedbackArguments:
    """Parses the arguments; wrong types are ignored with a remark.

    Raises:
        BadArguments: there is no summary.
    """
    given: Mapping[str, object] = arguments if isinstance(arguments, dict) else {}
    remarks: list[str] = []
    written = given.get("work_summary")
    summary = plain(written, LONGEST_SUMMARY, keeps_lines=True)
    if not summary:
        raise BadArguments(NO_SUMMARY)
    if isinstance(written, str) and len(written) > LONGEST_SUMMARY:
        remarks.append(f"work_summary was cut after {LONGEST_SUMMARY:,} characters; keep it short.")
    name = plain(_text(given, "project_name", remarks), LONGEST_PROJECT_NAME)
    wait_s = _wait_s(given.get("timeout_s"), remarks)
    return FeedbackArguments(summary, name, _text(given, "project_path", remarks), wait_s, tuple(remarks))


def _text(given: Mapping[str, object], name: str, remarks: list[str]) -> str:
    value = given.get(name)
    if isinstance(value, str):
        return value
    if value is not None:
        remarks.append(f"{name} must be text, and was ignored.")
    return ""


def _wait_s(value: object, remarks: list[str]) -> float:
    if value is None:
        return MOST_WAIT_S
    seconds = _number(value)
    if math.isnan(seconds):
        remarks.append("timeout_s must be a number of seconds, and was ignored.")
        return MOST_WAIT_S
    if seconds < LEAST_WAIT_S:
        remarks.append(f"timeout_s was raised to {LEAST_WAIT_S:g}: a person needs time to read and to answer.")
    return min(max(seconds, LEAST_WAIT_S), MOST_WAIT_S)


def _number(value: object) -> float:
    """Parses a number, which models also write as text; nan for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan
