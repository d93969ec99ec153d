"""Whether whole arguments and results of calls are recorded now, as the settings say."""

import time
from collections.abc import Mapping

from tooltray.ui.kit.setting_form import value_at

FOREVER = float("inf")


def recorded_until(settings: Mapping[str, object]) -> float:
    """Returns until when they are recorded, in unix seconds; FOREVER: until the user switches it off; 0: they are not recorded now."""
    until = value_at(settings, "activity.contentsUntil")
    until = float(until) if isinstance(until, int | float) and until else FOREVER
    return until if value_at(settings, "activity.contents") is True and until > time.time() else 0.0
