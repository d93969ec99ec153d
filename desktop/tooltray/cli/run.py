"""Runs a command line's words and returns an exit code.

The caller passes in the function that opens the desktop, since this package never imports Qt. A command's module is imported when a line
names it.

Exit codes: 0 done; 1 it failed, and standard error has the reason; 2 wrong usage; 3 another hub runs; 75 another version has replaced a
hub's program; 130 Ctrl-C; 143 SIGTERM.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tooltray.cli import arguments
from tooltray.cli.arguments import UsageError, function_at
from tooltray.cli.speech import language_of, speak, tr
from tooltray.foundation.languages import ENGLISH
from tooltray.foundation.programs import importing

if TYPE_CHECKING:
    from tooltray.foundation.errors import Problem
    from tooltray.foundation.home.home import Home

FAILED, WRONG_USAGE, HUB_RUNNING, INTERRUPTED = 1, 2, 3, 130
ENGLISH_ALONE = {"--version", "--stdio"}  # the first prints no text, and must be quick; the second's text is for an AI client


class OpenDesktop(Protocol):
    """A function that runs the desktop app on a home and returns its exit code."""

    def __call__(self, home: "Home", *, hidden: bool, link: str) -> int:
        """
        Args:
            hidden: only the tray icon is shown.
            link: the address that was opened; empty for no address.
        """
        ...


def run(argv: Sequence[str], *, open_desktop: OpenDesktop, environ: Mapping[str, str] = os.environ) -> int:
    """Runs one command.

    Args:
        argv: the words after the program's name.
        open_desktop: called for a line without a command.
        environ: where the home, the execution id and the display are looked up.

    Returns:
        The exit code.

    Raises:
        SystemExit: after `--help` and `--version`.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8 still shows something
    own = list(takewhile(lambda word: word != "--", argv))
    as_json = "--json" in own
    speak(ENGLISH if as_json or ENGLISH_ALONE & set(own) else _language(own, environ))
    try:
        with importing():
            args = arguments.parse(argv, environ)
            if args.run == arguments.DESKTOP and not args.link and not has_display(environ):
                args = arguments.parse([*(word for word in argv if word != arguments.BACKGROUND), "serve"], environ)
    except UsageError as error:
        return _complain_of_usage(error, as_json=as_json)
    except SystemExit:  # after `--help` and `--version`
        _flush_quietly()
        raise
    except (Exception, KeyboardInterrupt) as error:  # while the command's module was imported
        return outcome(partial(_fail, error), as_json=as_json)
    from tooltray.cli.app_place import check_place  # imports from here on cost time; `--version` does not get here
    from tooltray.foundation.home.home import find_home

    def action() -> int:
        check_place(shows_alert=args.run == arguments.DESKTOP and not args.background)
        home = find_home(args.home, environ)
        return open_desktop(home, hidden=args.background, link=args.link) if args.run == arguments.DESKTOP else _command(args)(args, home)

    return outcome(action, as_json=as_json)


def has_display(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Reports whether windows can be shown: macOS and Windows always have a screen."""
    return platform in ("darwin", "win32") or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def _language(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """Returns the user's language before the line is parsed, since the help is in that language."""
    at = argv.index("--home") + 1 if "--home" in argv else len(argv)
    given = next((word.removeprefix("--home=") for word in argv if word.startswith("--home=")), None)
    home = given or (argv[at] if at < len(argv) else None) or environ.get("TOOLTRAY_HOME") or os.path.join("~", ".tooltray")
    return language_of(Path(os.path.expanduser(home), "settings.json"), environ)


def _command(args: argparse.Namespace) -> Callable[[argparse.Namespace, "Home"], int]:
    with importing():
        return function_at(args.run) if isinstance(args.run, str) else args.run


def _fail(error: BaseException) -> int:
    raise error


def _flush_quietly() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def _complain_of_usage(error: UsageError, *, as_json: bool) -> int:
    if as_json:
        from tooltray.cli.terminal import print_error
        from tooltray.foundation.errors import Problem

        print_error(Problem(tr("Wrong usage"), str(error), tr("See {program} --help", program=error.program)), as_json=True)
    else:
        print(f"{error.usage}{error.program}: {error}", file=sys.stderr)
    return WRONG_USAGE


def outcome(action: Callable[[], int], *, as_json: bool = False) -> int:
    """Runs a command and returns its exit code; reports errors on standard error."""
    from tooltray.foundation.errors import Problem, TooltrayError

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


def complain(problem: "Problem", *, as_json: bool) -> int:
    """Prints an error; returns its exit code."""
    from tooltray.cli.terminal import print_error

    print_error(problem, as_json=as_json)
    return FAILED


def silence_stdout() -> None:
    """Discards the rest of standard output after its reader has exited (`| head`), so that the interpreter does not fail at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
