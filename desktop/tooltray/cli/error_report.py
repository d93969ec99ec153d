"""The one place where a command's errors become text and an exit code."""

import os
import sys
from collections.abc import Callable

from tooltray.foundation.errors import Problem, TooltrayError

FAILED, HUB_RUNNING, INTERRUPTED = 1, 3, 130


def outcome(action: Callable[[], int], *, as_json: bool = False) -> int:
    """Runs a command and returns its exit code; reports errors on standard error."""
    try:
        code = action()
        if sys.stdout is not None:
            sys.stdout.flush()
    except TooltrayError as error:
        return complain(error.problem, as_json=as_json)
    except BrokenPipeError:
        silence_stdout()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # a bug: the trace for a report, then one line for the user
        import traceback

        traceback.print_exc()
        return complain(Problem("Something unexpected went wrong", f"{type(error).__name__}: {error}"), as_json=as_json)
    return code


def complain(problem: Problem, *, as_json: bool) -> int:
    """Prints an error; returns its exit code."""
    from tooltray.cli.terminal import print_error

    print_error(problem, as_json=as_json)
    return FAILED


def silence_stdout() -> None:
    """Discards the rest of standard output after its reader has exited (`| head`), so that the interpreter does not fail at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
