"""Texts of the Network tab about registries. Pure functions of the engine's snapshots."""

from datetime import datetime, timedelta

from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.state_language import UNKNOWN, Look

SLOWEST_MS = 300.0  # a full bar, unless something answered later: differences between quick ones stay visible


def registry_look(entry: RegistryMeasurement, status: NpmRegistryStatus) -> Look:
    """Returns the state of a registry: shape, colour and word."""
    if entry.milliseconds is None and (entry.problem or not is_used(entry, status)):
        return Look("state-error", "error", tr("No answer"))
    if entry.problem:  # it answers, but lacks packages or has old ones
        return Look("state-waiting", "warning", tr("Left out"))
    if is_used(entry, status):
        return Look("state-connected", "success", tr("In use"))
    return Look("state-off", "neutral", tr("Reachable"))


def is_used(entry: RegistryMeasurement, status: NpmRegistryStatus) -> bool:
    """Returns whether servers use this registry; with no URL they use the registry that npm itself is configured to use."""
    return entry.url == status.url if status.url else entry.origin == "npm"


def registry_time(entry: RegistryMeasurement, status: NpmRegistryStatus) -> tuple[float, str, str]:
    """Returns the bar of a registry: its share of the slowest, its tone, its word."""
    if entry.milliseconds is None:
        return 0.0, "neutral", UNKNOWN
    slowest = max((SLOWEST_MS, *(each.milliseconds or 0.0 for each in status.measurements)))
    return (
        entry.milliseconds / slowest,
        "success" if is_used(entry, status) and not entry.problem else "neutral",
        f"{entry.milliseconds:,.0f} ms",
    )


def where_from(entry: RegistryMeasurement) -> str:
    match entry.origin:
        case "npm":
            return tr("your npm configuration")
        case "custom":
            return tr("chosen by you")
        case "settings":
            return tr("your settings")
        case _:
            return _place(entry.region)


def _place(region: str) -> str:
    """Returns the country of a mirror, in the user's language where that is known."""
    words = {"": tr("mirror"), "China": tr("China")}
    return words.get(region, region)


def measured(status: NpmRegistryStatus, now: datetime) -> str:
    """Returns when the registries were measured."""
    if status.is_measuring:
        return tr("They are being measured now.")
    if not status.measured_at:
        return tr("Not measured yet.")
    ago = now - datetime.fromtimestamp(status.measured_at)
    if ago < timedelta(minutes=1):
        return tr("Measured just now.")
    if ago < timedelta(hours=1):
        return tr("Measured {minutes} min ago.", minutes=int(ago.total_seconds() // 60))
    if ago < timedelta(days=2):
        return tr("Measured {hours} h ago.", hours=int(ago.total_seconds() // 3600))
    return tr("Measured {days} days ago.", days=ago.days)


def server_registry(status: RegistryStatus, now: datetime) -> str:
    """Returns how many servers of the registry of MCP servers are known, and the age of that list."""
    if status.is_updating:
        return tr("It is being fetched…")
    if not status.updated_at:
        return tr("It was never fetched.")
    return tr("{count} servers, as of {when}.", count=f"{status.servers:,}", when=moment(status.updated_at, now))
