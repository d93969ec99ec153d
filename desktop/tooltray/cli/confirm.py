"""Asks a person whether something is to be done.

Above it: the commands that change much at once. Where nobody can be asked, the answer has to come with the command.
"""

from tooltray.cli.secret_input import is_person_there
from tooltray.cli.terminal import clean_line
from tooltray.errors import TooltrayError


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
