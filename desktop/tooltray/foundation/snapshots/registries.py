"""npm registries: their measurements, and the one that servers get."""

import msgspec


class RegistryMeasurement(msgspec.Struct, frozen=True):
    """The measurement of one npm registry."""

    url: str  # as it may be shown: without user name and password
    name: str  # how people know it
    origin: str  # "npm" (npm's own configuration), "mirror" (comes with Tooltray), "settings", or "custom"
    region: str = ""  # where it stands, in words
    milliseconds: float | None = None  # until it answered for the probed packages; None: it did not
    problem: str = ""  # why it cannot be used


class NpmRegistryStatus(msgspec.Struct, frozen=True):
    """The npm registry that servers get, and why."""

    url: str = ""  # what servers get, as it may be shown; empty: what npm itself is configured to use
    origin: str = "npm"  # as in RegistryMeasurement
    is_auto_detect: bool = True
    custom_url: str = ""  # chosen by the person; it goes before all others
    measured_at: float = 0.0  # unix seconds; 0: never
    is_from_cache: bool = False  # measured by an earlier hub
    is_measuring: bool = False
    measurements: tuple[RegistryMeasurement, ...] = ()  # fastest first, then those that cannot be used
