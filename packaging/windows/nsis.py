"""Runs NSIS, on Windows and on Linux, on one of the scripts beside this file."""

import subprocess
import sys
from pathlib import Path

ON_WINDOWS = sys.platform == "win32"
MARK = "/" if ON_WINDOWS else "-"


def compile_script(script: str, *commands: str, **defined: object) -> None:
    """Makes what a script makes.

    Args:
        commands: of NSIS, to come before those of the script.
        defined: what the script asks for, by name.

    Raises:
        CalledProcessError: NSIS refuses it.
    """
    # Debian's NSIS makes stubs of 32 bits unless told otherwise; Wine without them, and Windows on ARM, run those of 64
    first = [*([] if ON_WINDOWS else ["Target amd64-unicode"]), *commands]
    options = [f"{MARK}V2", f"{MARK}INPUTCHARSET", "UTF8", *(f"{MARK}X{each}" for each in first)]
    options += [f"{MARK}D{name}={value}" for name, value in defined.items()]
    subprocess.run(["makensis", *options, str(Path(__file__).with_name(script))], check=True)


def copy_command(place: Path) -> str:
    """Returns the command that keeps the file which NSIS puts in the place of `%1`."""
    return f'copy /y "%1" "{place}"' if ON_WINDOWS else f'cp "%1" "{place}"'
