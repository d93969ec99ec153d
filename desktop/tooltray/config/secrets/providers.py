"""The providers of secrets that Tooltray does not store: `${secret:PREFIX:PLACE}`, a class and a line in PROVIDERS for each prefix.

A value is fetched when a server starts, and held only in memory. Everything that a program prints besides the value is dropped, because
it may repeat the value.
"""

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Protocol

import msgspec

from tooltray.config.secrets.keyring_vault import SERVICE
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread

MAX_VALUE_BYTES = 64 * 1024  # a key of a cloud has some thousand; a whole environment has 2 MB on Linux
FETCH_S = 30.0  # a password manager may ask the user first
TRY_IT = Phrase("Try it in a terminal: the entry may not exist, or the program may prompt you. Then start the server again.")
UNLOCK = Phrase("It may be waiting for your input: unlock it in a terminal, then start the server again")


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
        SecretNotGiven: it fails, hangs, or prints a text that cannot be a secret.
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
        raise not_given(origin, Phrase("it printed too much for a secret"))
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


PROGRAM = "pass"
STORE = ".password-store"  # in the home folder, unless PASSWORD_STORE_DIR names another one


class PassProvider:
    """`${secret:pass:PATH}`: the first line of the output of `pass show PATH`, as passwordstore.org defines it."""

    def origin(self, place: str) -> str:
        return Phrase("pass, {place}", place=place)

    def why_not(self, place: str, around: Surroundings) -> Problem | None:
        if shutil.which(PROGRAM, path=around.environ.get("PATH")):
            return None
        return Problem(Phrase("pass is not installed"), hint=Phrase("Install it (passwordstore.org), or store the secret in Tooltray"))

    async def fetch(self, place: str, around: Surroundings) -> str:
        origin = self.origin(place)
        if place.startswith("-"):
            raise not_given(origin, Phrase("no entry has this name"))
        if await finish_in_thread(_is_folder, place, around.environ):  # for a folder `pass show` prints the names in it, and ends with 0
            raise not_given(origin, Phrase("it is a folder of the store, and no entry"), Phrase("Name an entry in it"))
        text = await printed([PROGRAM, "show", place], around, origin)
        return checked(text.partition("\n")[0].rstrip("\r"), origin)


def _is_folder(place: str, environ: Mapping[str, str]) -> bool:
    path = os.path.join(environ.get("PASSWORD_STORE_DIR") or os.path.join(environ.get("HOME", ""), STORE), place)
    return os.path.isdir(path) and not os.path.isfile(f"{path}.gpg")


SPELLING = Phrase("Write ${{secret:keyring:SERVICE/NAME}}")


class KeyringProvider:
    """`${secret:keyring:SERVICE/NAME}`: an entry of another program, or of the user, in the system's keyring.

    The last slash divides the two, since services are often addresses. Tooltray's own entries cannot be read this way: `${secret:NAME}` is
    for them, and has its own rules.
    """

    def origin(self, place: str) -> str:
        return Phrase("the keyring, {place}", place=place)

    def why_not(self, place: str, around: Surroundings) -> Problem | None:
        service, _, name = place.rpartition("/")
        owner = service.casefold().rpartition("@")[2]  # Windows keeps some entries as NAME@SERVICE
        if service and name and owner != SERVICE:
            return None
        return Problem(Phrase("'{place}' is not a usable keyring entry", place=place), hint=SPELLING)

    async def fetch(self, place: str, around: Surroundings) -> str:
        if problem := self.why_not(place, around):
            raise not_given(self.origin(place), problem.title, problem.hint)
        service, _, name = place.rpartition("/")
        value = await around.ask_keyring(service, name)
        if value is None:
            raise not_given(self.origin(place), Phrase("no such entry"), SPELLING)
        return checked(value, self.origin(place))


class CommandProvider:
    """`${secret:command:NAME}`: the output of a command that the user has set up in `secretCommands` of the settings.

    Its arguments are the user's own: an entry names the command, and adds nothing to it.
    """

    def origin(self, place: str) -> str:
        return Phrase("your command '{name}'", name=place)

    def why_not(self, place: str, around: Surroundings) -> Problem | None:
        command = around.commands.get(place)
        if not command:
            hint = Phrase("Add it in the tab Secrets of the settings, or to secretCommands in settings.json")
            return Problem(Phrase("Command '{name}' not found", name=place), Phrase("secretCommands does not have it"), hint)
        if shutil.which(command[0], path=around.environ.get("PATH")):
            return None
        hint = Phrase("Install it, or correct the command in the tab Secrets of the settings")
        return Problem(Phrase("'{program}' is not installed", program=command[0]), hint=hint)

    async def fetch(self, place: str, around: Surroundings) -> str:
        origin, command = self.origin(place), around.commands.get(place)
        if not command:
            problem = self.why_not(place, around)
            assert problem is not None
            raise not_given(origin, problem.message, problem.hint)
        value = (await printed(command, around, origin)).rstrip("\r\n")
        if "\n" in value:
            raise not_given(origin, Phrase("it printed several lines"), Phrase("Have it print only the value"))
        return checked(value, origin)


COMMAND = "command"
PROVIDERS: Mapping[str, Provider] = {"pass": PassProvider(), "keyring": KeyringProvider(), COMMAND: CommandProvider()}


class Reference(msgspec.Struct, frozen=True):
    """The provider and the place that the name of a secret refers to.

    Attributes:
        prefix: of its provider.
        place: the provider's own name for the secret.
    """

    prefix: str
    place: str

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.prefix]

    @property
    def origin(self) -> str:
        """Returns where the value is from, for the user to read."""
        return self.provider.origin(self.place)


def reference_of(name: str) -> Reference | None:
    """Returns what the name of a secret in a placeholder refers to; None: to a secret that Tooltray stores."""
    prefix, colon, place = name.partition(":")
    return Reference(prefix, place) if colon and prefix in PROVIDERS else None


def places_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns where an entry's secrets come from that Tooltray does not store, for the user to read."""
    found = [reference for name in names if (reference := reference_of(name))]
    return tuple(dict.fromkeys(each.origin for each in found))
