"""Expected failures, in words for the user.

`Problem` is only the text, for snapshots; `TooltrayError` carries one through the code. A card, the command line and a JSON-RPC error all
show the same three parts: what happened, why, and what to do.
"""

from typing import ClassVar

import msgspec

SECRET_MISSING = "secret_missing"
SECRETS_UNREACHABLE = "secrets_unreachable"
ASK_USER = "Ask the user to look at it in Tooltray"


class Problem(msgspec.Struct, frozen=True):
    """A failure or a condition that the user should know of.

    Attributes:
        title: what happened, one short sentence without a full stop.
        message: the facts: which command, which file, which exit code. May be empty.
        hint: what to do about it. May be empty.
        code: the kind of problem, for code that handles it; usually empty. The texts are never compared, since they may be in any language.
    """

    title: str
    message: str = ""
    hint: str = ""
    code: str = ""

    def __str__(self) -> str:
        return in_one_line(self.title, self.message, self.hint)


def in_one_line(*parts: str) -> str:
    """Joins parts of a message: after a full stop, or after a colon if the part begins with a small letter."""
    text = ""
    for part in (part.rstrip(".") for part in parts if part):
        gap = (": " if part[:1].islower() else ". ") if text else ""
        text += gap + part
    return text


def words_for_model(failed: "Problem | TooltrayError") -> str:
    """Returns the text of a failure for a model: what happened and why, without the hint. The hint is for the user: a model could run a
    command or change a setting that the hint names, and so allow itself what was refused.
    """
    problem = failed.problem if isinstance(failed, TooltrayError) else failed
    return in_one_line(problem.title, problem.message, ASK_USER if problem.hint else "")


class TooltrayError(Exception):
    """An expected failure; raised where it happens, and shown to the user.

    Attributes:
        problem_code: the `code` of its Problem.
    """

    problem_code: ClassVar[str] = ""

    def __init__(self, title: str, message: str = "", hint: str = "") -> None:
        super().__init__(title, message, hint)
        self.problem = Problem(title, message, hint, self.problem_code)

    def __str__(self) -> str:
        return str(self.problem)


class NotFound(TooltrayError):
    """A failure to find the thing that the caller named."""


class Conflict(TooltrayError):
    """A state other than the caller assumed: a name is in use, or something has changed since the caller read it."""


class SecretsUnreachable(TooltrayError):
    """A secret store that cannot be used now."""

    problem_code = SECRETS_UNREACHABLE


class Denied(TooltrayError):
    """A refusal: the user has to allow it first."""
