"""HubPhase: what the hub does, as the tray and the window show it."""

from enum import Enum


class HubPhase(Enum):
    STARTING = "starting"
    TAKING_OVER = "taking over"  # from a hub without a window
    RUNNING = "running"
    FAILED = "failed"  # it could not start, or ended by itself
    ENDING = "ending"
