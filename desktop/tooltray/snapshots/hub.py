"""The whole hub at one moment."""

import msgspec

from tooltray.errors import Problem
from tooltray.snapshots.servers import ServerSnapshot


class HubSnapshot(msgspec.Struct, frozen=True):
    """The whole hub at one moment."""

    pid: int
    version: str
    is_paused: bool  # `mcpEnabled` is off: lists stay, calls are refused
    session_count: int  # AI clients connected now
    started_at: float  # unix seconds
    servers: tuple[ServerSnapshot, ...]
    notices: tuple[Problem, ...] = ()  # what was wrong with the settings, and what was done about it
