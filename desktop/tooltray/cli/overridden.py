"""Whether a change counts: the settings can have been written, and be of no effect beside something else in them.

Above it: the commands that change settings. Below it: a hub, whose notices say why.
"""

from tooltray.control.control_client import Hub
from tooltray.errors import TooltrayError

MOST_REASONS = 3


def check_effect(hub: Hub, what: str, *, counts: bool) -> None:
    """
    Args:
        what: what was written, as the beginning of a sentence.
        counts: whether the hub says so by now.

    Raises:
        TooltrayError: it does not; tells what is wrong with the settings.
    """
    if counts:
        return
    notices = [f"{notice['title']}: {notice['message']}" for notice in hub.call("get_snapshot")["notices"]]
    why = "; ".join(notices[:MOST_REASONS]) or "something else has changed the settings at the same time"
    raise TooltrayError(f"{what} is in the settings, and does not count", why, "See: tooltray status")
