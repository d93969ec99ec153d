"""Refuses to run an app for macOS from a place that passes, so that no path below it gets into a client's config, a login item or a skill.

macOS runs a downloaded app that was not moved from a random, read-only folder, which another start does not have (App Translocation); an
app in a disk image is gone with the image. Apple's notes: https://developer.apple.com/forums/thread/724969
"""

import os
import sys

from tooltray.cli.speech import tr

IN_BUNDLE = ".app/Contents/MacOS"
TRANSLOCATED = "/AppTranslocation/"
ALERT = ("/usr/bin/osascript", "-e", "on run argv", "-e", "display alert (item 1 of argv) message (item 2 of argv)", "-e", "end run")


def is_passing_place(program: str) -> bool:
    """Returns whether a program belongs to an app that its system runs from a disk image or a random folder.

    Args:
        program: its absolute path.
    """
    folder = os.path.dirname(program)
    if not folder.endswith(IN_BUNDLE):
        return False
    return TRANSLOCATED in folder or bool(os.statvfs(folder).f_flag & os.ST_RDONLY)  # type: ignore[attr-defined, unused-ignore]  # not Windows


def check_place(*, shows_alert: bool, program: str = sys.executable) -> None:
    """Refuses to go on where the app would not be found later.

    Args:
        shows_alert: whether an alert shows the reason as well, for a user who has opened the app and sees no terminal.

    Raises:
        TooltrayError: the app has to be moved first.
    """
    if not is_passing_place(program):
        return
    from tooltray.foundation.errors import TooltrayError

    title = tr("Move Tooltray into Applications")
    message = tr("From here macOS runs it only for now, and AI clients would look for it here later")
    hint = tr("Drag Tooltray into Applications in the Finder, and open it there")
    if shows_alert:
        import subprocess

        subprocess.run([*ALERT, title, f"{message}. {hint}."], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    raise TooltrayError(title, message, hint)
