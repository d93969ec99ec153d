"""Whether Tooltray starts when the person logs in: asked of the system each time, so that a switch set elsewhere is seen.

Above it: the API, `tooltray autostart`, `tooltray uninstall`. Below it: one small module for each platform, with the same three functions.
It belongs to the person, not to a home: what starts is the person's own Tooltray, whatever home a hub has.
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
    """Whether the system is going to start Tooltray, as far as it says so."""
    return system.is_on()


def switch(*, on: bool) -> None:
    """Has the system start this installation at login, or none.

    Raises:
        TooltrayError: the system refuses.
    """
    try:
        system.turn_on(command_at_login()) if on else system.turn_off()
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
        raise TooltrayError(Phrase("Start at login could not be changed"), message) from error


def command_at_login() -> list[str]:
    """What starts at login. Versions of the portable archive stand in folders of their own; `current` leads to the newest one."""
    program, *arguments = desktop_command(BACKGROUND)
    current = Path(program).parents[1] / "current" / Path(program).name
    return [str(current) if is_frozen() and current.exists() else program, *arguments]
