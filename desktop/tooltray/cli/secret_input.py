"""Asks a person for secrets, or reads them where no person is.

Above it: the commands that store secrets. A secret is never an argument: other programs can read those, and the shell keeps them.
"""

import getpass
import sys
from collections.abc import Sequence

from tooltray.errors import TooltrayError


def is_person_there() -> bool:
    """Whether standard input is a terminal, at which somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask_for_secrets(names: Sequence[str], *, from_stdin: bool = False) -> dict[str, str]:
    """Asks for each secret without echo; where nobody can be asked, or with `from_stdin`, reads a line of standard input for each.

    Raises:
        TooltrayError: a value is missing.
    """
    is_asked = is_person_there() and not from_stdin
    return {name: _typed(name) if is_asked else _piped(name) for name in names}


def ask_for_secret(name: str) -> str:
    """Asks for one secret; where nobody can be asked, all of standard input is the value (keys in PEM form have many lines).

    Raises:
        TooltrayError: there is no value.
    """
    if is_person_there():
        return ask_for_secrets([name])[name]
    value = sys.stdin.read() if sys.stdin is not None else ""
    value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        hint = "Type it in a terminal, or send it through a pipe"
        raise TooltrayError(f"No value for the secret {name}", "Standard input is empty", hint)
    return value


def ask_for_passphrase(*, is_new: bool) -> str:
    """Asks for the passphrase of the encrypted file, twice where it is going to be made with it: nobody can open the file after a slip.

    Raises:
        TooltrayError: the two differ, or nothing was typed at all (Ctrl-D).
    """
    if not is_person_there():
        return _line()
    passphrase = _hidden("New passphrase for the encrypted file: " if is_new else "Passphrase of the encrypted file: ", "passphrase")
    if is_new and _hidden("The same again: ", "passphrase") != passphrase:
        raise TooltrayError("The two passphrases differ", "Nothing was changed", "Try again")
    return passphrase


def _typed(name: str) -> str:
    value = _hidden(f"{name}: ", f"value for the secret {name}")
    if not value:
        raise TooltrayError(f"No value for the secret {name}", "It was left empty", "Run the command again; what you type is not shown")
    return value


def _piped(name: str) -> str:
    value = _line()
    if not value:
        hint = "Give one line for each secret, in the order of the options"
        raise TooltrayError(f"No value for the secret {name}", "Standard input has no line for it", hint)
    return value


def _hidden(question: str, wanted: str) -> str:
    """What a person types without echo.

    Args:
        wanted: what is asked for, for the error.

    Raises:
        TooltrayError: the person has ended the input (Ctrl-D).
    """
    try:
        return getpass.getpass(question)
    except EOFError:
        print(file=sys.stderr)  # the cursor still stands behind the question
        raise TooltrayError(f"No {wanted} was given") from None


def _line() -> str:
    return (sys.stdin.readline() if sys.stdin is not None else "").rstrip("\r\n")
