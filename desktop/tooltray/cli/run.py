"""Runs a command line's words and returns an exit code.

The caller passes in the function that opens the desktop, since this package never imports Qt. A command's module is imported when a line
names it.

Exit codes: 0 done; 1 it failed, and standard error has the reason; 2 wrong usage; 3 another hub runs; 130 Ctrl-C; 143 SIGTERM.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tooltray.cli import arguments
from tooltray.cli.parsers import UsageError, function_at
from tooltray.cli.speech import language_of, speak, tr
from tooltray.foundation.languages import ENGLISH

if TYPE_CHECKING:
    from tooltray.foundation.home.home import Home

WRONG_USAGE = 2
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
        args = arguments.parse(argv, environ)
        if args.run == arguments.DESKTOP and not args.link and not has_display(environ):
            args = arguments.parse([*(word for word in argv if word != arguments.BACKGROUND), "serve"], environ)
    except UsageError as error:
        return _complain_of_usage(error, as_json=as_json)
    except SystemExit:  # after `--help` and `--version`
        _flush_quietly()
        raise
    except (Exception, KeyboardInterrupt) as error:  # while the command's module was imported
        return _end_with(error, as_json=as_json)
    from tooltray.cli.error_report import outcome  # imports from here on cost time; `--version` does not get here
    from tooltray.foundation.home.home import find_home

    def action() -> int:
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
    return function_at(args.run) if isinstance(args.run, str) else args.run


def _end_with(error: BaseException, *, as_json: bool) -> int:
    from tooltray.cli.error_report import outcome

    def fail() -> int:
        raise error

    return outcome(fail, as_json=as_json)


def _flush_quietly() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from tooltray.cli.error_report import silence_stdout

        silence_stdout()


def _complain_of_usage(error: UsageError, *, as_json: bool) -> int:
    if as_json:
        from tooltray.cli.terminal import print_error
        from tooltray.foundation.errors import Problem

        print_error(Problem(tr("Wrong usage"), str(error), tr("See {program} --help", program=error.program)), as_json=True)
    else:
        print(f"{error.usage}{error.program}: {error}", file=sys.stderr)
    return WRONG_USAGE
