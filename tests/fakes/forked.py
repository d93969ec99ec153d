"""Something done in a child of this process, for what a process does to itself for good: rights given up, a program become.

The child is not measured: to keep what was measured takes seconds, and it may not be allowed to write by then.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import NamedTuple

FAILED = 99  # the function raised


class Ended(NamedTuple):
    """
    Attributes:
        code: what the function returned.
        said: what was written to stdout and stderr.
    """

    code: int
    said: str


def in_child(function: Callable[[], object]) -> Ended:
    """Runs a function; what it returns counts if it is a number, else 0 stands for it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            sys.stdout, sys.stderr = (open(stream, "w", closefd=False) for stream in (1, 2))  # noqa: SIM115 - till its end
            result = function()
            code = result if isinstance(result, int) else 0
        except SystemExit:
            code = 0
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            try:
                sys.stderr.flush()
                os.write(1, b"\n%d" % code)  # `writing` may be closed by now
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
    os.close(writing)
    with open(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    said, _, code = said.rpartition("\n")
    return Ended(int(code or FAILED), said)
