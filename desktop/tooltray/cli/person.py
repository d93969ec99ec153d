"""Prompts of a command for the user who runs it, confirmations and secrets, and checks whether a user is there.

A command at a terminal is the command line's way to confirm (see confirmation): a command that an AI client can start without a terminal
allows nothing. For other questions, if no user can be asked, the answer has to be in the command. A secret is never an argument, since
other programs can read arguments, and the shell stores them.
"""

import getpass
import sys
from collections.abc import Sequence

from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean_line
from tooltray.foundation.confirm_widening import needs_terminal
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase

ALLOW = Phrase("Allow this?")
YES, NO = ("y", "yes"), ("n", "no")


def is_person_there() -> bool:
    """Reports whether standard input is a terminal, at which a user can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def is_at_terminal() -> bool:
    """Reports whether a user typed the command and sees its output."""
    return is_person_there() and sys.stdout is not None and sys.stdout.isatty()


def check_terminal(what: str = Phrase("Allowing tool calls")) -> None:
    """Raises at the beginning of a command the error that the hub would raise at its end.

    Raises:
        Denied: no person is at the terminal to read the details.
    """
    if not is_at_terminal():
        raise needs_terminal(what)


def confirmed(question: str, *, yes: bool) -> bool:
    """Asks whether to continue.

    Args:
        yes: the command already has the answer.

    Raises:
        TooltrayError: the command has no answer, and no user can be asked.
    """
    if yes:
        return True
    if not is_person_there():
        title = tr("'{question}' needs an answer in a terminal", question=clean_line(question))
        raise TooltrayError(title, hint=tr("Give --yes with the command, or run it in a terminal"))
    return typed_answer(clean_line(question)) in YES


def typed_answer(question: str) -> str:
    """Returns what the user types, in small letters; empty at the end of the input."""
    try:
        return input(f"{question} [y/N] ").strip().lower()
    except EOFError:
        return ""


def is_allowed() -> bool:
    """Asks for consent to what was just printed; without consent, prints that nothing was allowed."""
    if typed_answer(ALLOW) in YES:
        return True
    print(tr("Nothing was allowed."))
    return False


def ask_for_secrets(names: Sequence[str], *, from_stdin: bool = False) -> dict[str, str]:
    """Asks for each secret without echo; where no user can be asked, or with `from_stdin`, reads a line of standard input for each.

    Raises:
        TooltrayError: a value is missing.
    """
    is_asked = is_person_there() and not from_stdin
    return {name: _typed(name) if is_asked else _piped(name) for name in names}


def ask_for_secret(name: str) -> str:
    """Asks for one secret; where no user can be asked, all of standard input is the value (keys in PEM form have many lines).

    Raises:
        TooltrayError: no value was given.
    """
    if is_person_there():
        return ask_for_secrets([name])[name]
    value = sys.stdin.read() if sys.stdin is not None else ""
    value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        hint = tr("Type it in a terminal, or send it through a pipe")
        raise TooltrayError(tr("No value for the secret {name}", name=name), tr("Standard input is empty"), hint)
    return value


def ask_for_passphrase(*, is_new: bool) -> str:
    """Asks for the passphrase of the encrypted file, twice for a new file: a typing error would make the file impossible to open.

    Raises:
        TooltrayError: the two differ, or nothing was typed at all (Ctrl-D).
    """
    if not is_person_there():
        return _line()
    if is_new:
        return _typed_twice(tr("New passphrase for the encrypted file: "))
    return _hidden(tr("Passphrase of the encrypted file: "), "passphrase")


def ask_to_confirm(why: TooltrayError) -> str:
    """Asks at the command's terminal, without echo, for the passphrase that confirms what a command allows.

    Args:
        why: why it is needed; raised if no person can be asked.

    Raises:
        TooltrayError: no person can be asked, or nothing was typed.
    """
    if not is_person_there():
        raise why
    print(clean_line(str(why.problem.title)), file=sys.stderr)
    return _hidden(tr("Passphrase: "), "passphrase")


def ask_for_new_passphrase() -> str:
    """Asks twice for a new passphrase, which will confirm what commands allow.

    Raises:
        TooltrayError: the two differ, or nothing was typed.
    """
    return _typed_twice(tr("New passphrase: "))


def _typed_twice(question: str) -> str:
    passphrase = _hidden(question, "passphrase")
    if _hidden(tr("Repeat it: "), "passphrase") != passphrase:
        raise TooltrayError(tr("The two passphrases differ"), tr("Nothing was changed"), tr("Try again"))
    return passphrase


def _typed(name: str) -> str:
    value = _hidden(f"{name}: ", tr("value for the secret {name}", name=name))
    if not value:
        raise TooltrayError(
            tr("No value for the secret {name}", name=name),
            tr("It was left empty"),
            tr("Run the command again; what you type is not shown"),
        )
    return value


def _piped(name: str) -> str:
    value = _line()
    if not value:
        hint = tr("Provide one line per secret, in the order of the options")
        raise TooltrayError(tr("No value for the secret {name}", name=name), tr("Standard input has no line for it"), hint)
    return value


def _hidden(question: str, wanted: str) -> str:
    """Returns what the user types without echo.

    Args:
        wanted: the name of the value, for the error.

    Raises:
        TooltrayError: the user has ended the input (Ctrl-D).
    """
    try:
        return getpass.getpass(question)
    except EOFError:
        print(file=sys.stderr)  # the cursor is still on the question's line
        raise TooltrayError(tr("No {wanted} was entered", wanted=wanted)) from None


def _line() -> str:
    return (sys.stdin.readline() if sys.stdin is not None else "").rstrip("\r\n")
