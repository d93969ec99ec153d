"""The arguments of `collect_feedback`, as a model wrote them: read with patience, made harmless to show, and what was changed is remarked.

Above it: feedback_tool. Below it: elicitation_form's plain text. Whether a folder may be a project is not decided here.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tooltray.sessions.elicitation_form import plain

LONGEST_SUMMARY = 20_000  # characters; a person reads no more of it
LONGEST_PROJECT_NAME, LONGEST_SHOWN_PATH = 100, 4096
LEAST_WAIT_S = 600.0  # models like to give a person half a minute
MOST_WAIT_S = 86400.0  # a day; also where nothing was said
NO_SUMMARY = "work_summary is missing: say in Markdown what you have done, and what you want to know"


class BadArguments(Exception):
    """There is nothing to show; says what is missing."""


@dataclass(frozen=True)
class FeedbackArguments:
    """
    Attributes:
        project_name, project_path: as the model wrote them; empty if it did not.
        wait_s: how long it waits for the person.
        remarks: what it should know of its own arguments.
    """

    summary: str
    project_name: str
    project_path: str
    wait_s: float
    remarks: tuple[str, ...]

    @property
    def shown_path(self) -> str:
        """The folder as it may be shown and as the history goes by it; empty if it is none."""
        path = self.project_path
        is_one = os.path.isabs(path) and path.isprintable() and len(path) <= LONGEST_SHOWN_PATH
        return os.path.normpath(path) if is_one else ""


def read_arguments(arguments: Any) -> FeedbackArguments:
    """
    Raises:
        BadArguments: there is no summary.
    """
    given: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    remarks: list[str] = []
    summary = plain(given.get("work_summary"), LONGEST_SUMMARY, keeps_lines=True)
    if not summary:
        raise BadArguments(NO_SUMMARY)
    if len(given["work_summary"]) > LONGEST_SUMMARY:
        remarks.append(f"work_summary was cut after {LONGEST_SUMMARY:,} characters; keep it short.")
    name = plain(_text(given, "project_name", remarks), LONGEST_PROJECT_NAME)
    wait_s = _wait_s(given.get("timeout_s"), remarks)
    return FeedbackArguments(summary, name, _text(given, "project_path", remarks), wait_s, tuple(remarks))


def _text(given: Mapping[str, Any], name: str, remarks: list[str]) -> str:
    value = given.get(name)
    if isinstance(value, str):
        return value
    if value is not None:
        remarks.append(f"{name} must be text, and was ignored.")
    return ""


def _wait_s(value: Any, remarks: list[str]) -> float:
    if value is None:
        return MOST_WAIT_S
    seconds = _number(value)
    if math.isnan(seconds):
        remarks.append("timeout_s must be a number of seconds, and was ignored.")
        return MOST_WAIT_S
    if seconds < LEAST_WAIT_S:
        remarks.append(f"timeout_s was raised to {LEAST_WAIT_S:g}: a person needs time to read and to answer.")
    return min(max(seconds, LEAST_WAIT_S), MOST_WAIT_S)


def _number(value: Any) -> float:
    """Models write numbers as text, too; nan for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan
