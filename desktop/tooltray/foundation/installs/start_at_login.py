"""Whether Tooltray starts when the user logs in. Read from the system each time, so that a change made elsewhere is seen.

It belongs to the user, not to a home: the user's default Tooltray starts, whichever home a hub has. Each platform has a module with the
same three functions.
"""

import sys
from pathlib import Path

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import desktop_command, is_frozen

if sys.platform == "win32":  # pragma: no cover - one branch per platform
    from tooltray.foundation.installs import start_at_login_windows as system
elif sys.platform == "darwin":  # pragma: no cover - as above
    from tooltray.foundation.installs import start_at_login_macos as system
else:
    from tooltray.foundation.installs import start_at_login_linux as system

BACKGROUND = "--background"
"""The option with which the desktop shows nothing but its tray icon."""


def is_on() -> bool:
    """Returns whether the system will start Tooltray, as far as it reports that."""
    return system.is_on()


def switch(*, on: bool) -> None:
    """Makes the system start this installation at login, or stops it from doing so.

    Raises:
        TooltrayError: the system refuses.
    """
    try:
        system.turn_on(command_at_login()) if on else system.turn_off()
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
        raise TooltrayError(Phrase("Start at login could not be changed"), message) from error


def command_at_login() -> list[str]:
    """Returns the command that starts at login. Versions of the portable archive have folders of their own; `current` leads to the newest
    one.
    """
    program, *arguments = desktop_command(BACKGROUND)
    current = Path(program).parents[1] / "current" / Path(program).name
    return [str(current) if is_frozen() and current.exists() else program, *arguments]
