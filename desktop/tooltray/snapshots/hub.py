"""The whole hub at one moment."""

from dataclasses import dataclass

from tooltray.errors import Problem
from tooltray.snapshots.servers import ServerSnapshot


@dataclass(frozen=True)
class HubSnapshot:
    """The whole hub at one moment."""

    pid: int
    version: str
    is_paused: bool  # `mcpEnabled` is off: lists stay, calls are refused
    session_count: int  # AI clients connected now
    started_at: float  # unix seconds
    servers: tuple[ServerSnapshot, ...]
    notices: tuple[Problem, ...] = ()  # what was wrong with the settings, and what was done about it
