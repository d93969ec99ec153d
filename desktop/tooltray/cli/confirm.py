"""Asks a person whether something is to be done, and says whether one is there.

Above it: the commands that change much at once, and those that widen what may happen. A command at a terminal is the command line's way to
confirm (see confirmation): what an AI client can start by itself, without one, allows nothing. Where nobody can be asked about other
things, the answer has to come with the command.
"""

import sys

from tooltray.cli.secret_input import is_person_there
from tooltray.cli.terminal import clean_line
from tooltray.confirmation import PERSON, UNATTENDED, Asker, needs_terminal
from tooltray.errors import TooltrayError


def is_at_terminal() -> bool:
    """Whether somebody has typed the command and sees what it prints."""
    return is_person_there() and sys.stdout is not None and sys.stdout.isatty()


def asker() -> Asker:
    """Who runs this command."""
    return PERSON if is_at_terminal() else UNATTENDED


def check_terminal(what: str = "A yes to tool calls") -> None:
    """Says at the beginning of a command what the hub would say at its end.

    Raises:
        Denied: nobody is there who could have read what it is about.
    """
    if not is_at_terminal():
        raise needs_terminal(what)


def confirmed(question: str, *, yes: bool) -> bool:
    """Returns whether it is to be done.

    Args:
        yes: it was said with the command.

    Raises:
        TooltrayError: it was not, and nobody is there to ask.
    """
    if yes:
        return True
    if not is_person_there():
        title = f"Nobody is there to answer '{clean_line(question)}'"
        raise TooltrayError(title, hint="Give --yes with the command, or run it in a terminal")
    try:
        return input(f"{clean_line(question)} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
