"""How far the hub is, as the app knows it before and after there is an engine to ask."""

from enum import Enum


class HubPhase(Enum):
    STARTING = "starting"
    TAKING_OVER = "taking over"  # from a hub without a window
    RUNNING = "running"
    FAILED = "failed"  # it could not start, or ended by itself
    ENDING = "ending"
