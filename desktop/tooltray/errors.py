"""What can be expected to go wrong, in words for a person. The lowest layer, beside events.

`Problem` is the text alone, for snapshots; `TooltrayError` carries one through the code. A card, the command line and a JSON-RPC error all
show the same three parts: what, why, what to do.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Something that a person should know.

    Attributes:
        title: what happened, one short sentence without a full stop.
        message: the facts: which command, which file, which exit code. May be empty.
        hint: what to do about it. May be empty.
    """

    title: str
    message: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return ". ".join(part.rstrip(".") for part in (self.title, self.message, self.hint) if part)


class TooltrayError(Exception):
    """An expected failure (style: lane 1); raised where it happens, shown where a person looks."""

    def __init__(self, title: str, message: str = "", hint: str = "") -> None:
        super().__init__(title, message, hint)
        self.problem = Problem(title, message, hint)

    def __str__(self) -> str:
        return str(self.problem)
