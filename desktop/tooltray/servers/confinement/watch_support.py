"""Whether this computer lets one program watch another; only Linux on x86-64 and ARM64 does."""

import subprocess
import sys

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import watch_command

CHECK_S = 20.0  # a frozen app starts in one; a machine may be busy


def require_watching() -> None:
    """Tries out whether programs can be watched. Blocks.

    Raises:
        TooltrayError: this computer does not let one program watch another; gives the reason.
    """
    title = Phrase("Servers cannot be watched on this computer")
    if sys.platform != "linux":
        raise TooltrayError(title, Phrase("it needs Linux"), Phrase("Choose the server's profile by hand."))
    try:
        tried = subprocess.run(watch_command(), stdin=subprocess.DEVNULL, capture_output=True, timeout=CHECK_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise TooltrayError(title, str(error)) from None
    if tried.returncode:
        raise TooltrayError(title, tried.stderr.decode(errors="replace").strip(), Phrase("Choose the server's profile by hand."))
