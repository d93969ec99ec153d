"""What can be expected to go wrong, in words for a person. The lowest layer, beside events.

`Problem` is the text alone, for snapshots; `TooltrayError` carries one through the code. A card, the command line and a JSON-RPC error all
show the same three parts: what, why, what to do.
"""

from typing import ClassVar

import msgspec

SECRET_MISSING = "secret_missing"
ASK_USER = "Ask the user to look at it in Tooltray"


class Problem(msgspec.Struct, frozen=True):
    """Something that a person should know.

    Attributes:
        title: what happened, one short sentence without a full stop.
        message: the facts: which command, which file, which exit code. May be empty.
        hint: what to do about it. May be empty.
        code: which kind it is, for code that deals with that kind; empty: no code does. The texts are in any language.
    """

    title: str
    message: str = ""
    hint: str = ""
    code: str = ""

    def __str__(self) -> str:
        return in_one_line(self.title, self.message, self.hint)


def in_one_line(*parts: str) -> str:
    """Parts of what is said, one behind the other: a sentence follows a full stop; what begins with a small letter, a colon."""
    text = ""
    for part in (part.rstrip(".") for part in parts if part):
        gap = (": " if part[:1].islower() else ". ") if text else ""
        text += gap + part
    return text


def words_for_model(failed: "Problem | TooltrayError") -> str:
    """Returns what a model reads of a failure: what happened and why. The hint is left out, it is for the user: a model could
    take a command or a setting that stands in it, and allow itself what it was refused.
    """
    problem = failed.problem if isinstance(failed, TooltrayError) else failed
    return in_one_line(problem.title, problem.message, ASK_USER if problem.hint else "")


class TooltrayError(Exception):
    """An expected failure (style: lane 1); raised where it happens, shown where a person looks.

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
    """What was named is not there."""


class Conflict(TooltrayError):
    """It is not as whoever asked believed: a name is taken, or what was looked at has changed meanwhile."""


class SecretsUnreachable(TooltrayError):
    """The place where secrets are kept cannot be used now."""


class Denied(TooltrayError):
    """Whoever asked may not do that; a person has to allow it first."""
