"""The interface of a provider of secrets: a program or a keyring of the user's that is asked for one value.

Everything that a program prints besides the value is dropped, because it may repeat the value.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Protocol

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase

MAX_VALUE_BYTES = 64 * 1024  # a key of a cloud has some thousand; a whole environment has 2 MB on Linux
FETCH_S = 30.0  # a password manager may ask the user first
TRY_IT = Phrase("Try the same in a terminal: there may be no such entry, or it asks you for something there. Then start the server again")
UNLOCK = Phrase("It may want to ask you something, and nobody answers: unlock it in a terminal, and start the server again")


class SecretNotGiven(TooltrayError):
    """A provider gave no value."""


class NotAnswered(SecretNotGiven):
    """A provider waits for an answer of the user."""


class Answer(Protocol):
    """What a program printed, and its exit code."""

    @property
    def code(self) -> int: ...
    @property
    def output(self) -> bytes: ...


Run = Callable[[Sequence[str], Mapping[str, str]], Awaitable[Answer]]
"""Runs a program with an environment, without input or a terminal, for FETCH_S at most; raises TimeoutError or OSError."""
AskKeyring = Callable[[str, str], Awaitable[str | None]]
"""Returns the password of a service and a name in the system's keyring; raises the errors of SecretStore."""


class Surroundings(HidesFields, frozen=True):
    """What a provider works with.

    Attributes:
        environ: the user's environment.
        commands: the commands that the user has set up, by name.
    """

    hidden: ClassVar = ("environ",)

    environ: Mapping[str, str]
    commands: Mapping[str, Sequence[str]]
    run: Run
    ask_keyring: AskKeyring


class Provider(Protocol):
    def origin(self, place: str) -> str:
        """Returns where a value is from, for the user to read."""
        ...

    def why_not(self, place: str, around: Surroundings) -> Problem | None:
        """Returns why the provider cannot give a value, as far as the file system shows that without asking for one."""
        ...

    async def fetch(self, place: str, around: Surroundings) -> str:
        """Fetches a value.

        Raises:
            TooltrayError: it gives none; explains why, without anything that it printed.
        """
        ...


def not_given(origin: str, why: str, hint: str = "") -> SecretNotGiven:
    return SecretNotGiven(_title(origin), why, hint)


def not_answered(origin: str) -> NotAnswered:
    return NotAnswered(_title(origin), Phrase("it took more than {seconds} s and was ended", seconds=f"{FETCH_S:g}"), UNLOCK)


def _title(origin: str) -> Phrase:
    return Phrase("{origin} gave no value", origin=origin)


async def printed(command: Sequence[str], around: Surroundings, origin: str) -> str:
    """Returns what a program prints, as text.

    Raises:
        SecretNotGiven: it fails, hangs, or prints what cannot be a secret.
    """
    environ = {name: value for name, value in around.environ.items() if name != "GPG_TTY"}  # gpg's agent would ask at that terminal
    try:
        answer = await around.run(command, environ)
    except TimeoutError:
        raise not_answered(origin) from None
    except OSError as error:
        raise not_given(origin, Phrase("it cannot be run: {reason}", reason=error.strerror or "")) from None
    if answer.code:
        raise not_given(origin, Phrase("it ended with code {code}", code=answer.code), TRY_IT)
    if len(answer.output) > MAX_VALUE_BYTES:
        raise not_given(origin, Phrase("it printed more than a secret has"))
    try:
        text = answer.output.decode()
    except UnicodeDecodeError:
        raise not_given(origin, Phrase("it printed something that is not text")) from None
    return text


def checked(value: str, origin: str) -> str:
    """Returns the value. Raises SecretNotGiven if a variable or a header cannot hold it."""
    if not value:
        raise not_given(origin, Phrase("it is empty"))
    if "\0" in value:
        raise not_given(origin, Phrase("it has a zero character in it"))
    return value
