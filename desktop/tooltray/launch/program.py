"""A program that a launcher would run: the lowest layer of direct starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DirectProgram:
    """
    Attributes:
        program: its absolute path.
        env: what the launcher would add to its environment.
        saved_processes: how many processes the launcher would keep beside it.
    """

    program: str
    args: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    saved_processes: int
