"""Who asks the engine for something, and whether a person confirms what widens what may happen.

A verb that widens (trust, an approval, a grant, an allowed folder, wider rules, a trusted token, an address for others) calls
`confirm_widening` before it does anything. What carries verbs to the engine says with `asked_by` who asks: the window, a command at a
terminal, a program over REST. A new way to confirm is another `Asker`; no verb changes for it. Nobody asks unless a carrier says so, and
then nothing is widened.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Protocol

from tooltray.errors import Denied
from tooltray.phrases import Phrase


class Asker(Protocol):
    """Whoever calls a verb of the engine.

    Attributes:
        name: by which a person knows who asked; empty where that is the person.
        proposes: without a confirmation, an entry of a server that comes from here is kept and waits for a person's yes.
    """

    @property
    def name(self) -> str: ...
    @property
    def proposes(self) -> bool: ...

    async def has_confirmed(self) -> bool:
        """Whether a person confirms what this asker widens."""
        ...

    def refusal(self, what: str) -> Denied:
        """Why something is not widened for this asker; `what` begins the sentence."""
        ...


class Person:
    """The person at the window, who has seen a sheet, or at a terminal, who has typed the command there."""

    name, proposes = "", False

    async def has_confirmed(self) -> bool:
        return True

    def refusal(self, what: str) -> Denied:
        return Denied(Phrase("{what} was not confirmed", what=what))


class Unattended(Person):
    """A command, or a program at the control socket, without a terminal where somebody could have read what it is about."""

    async def has_confirmed(self) -> bool:
        return False

    def refusal(self, what: str) -> Denied:
        return needs_terminal(what)


PERSON, UNATTENDED = Person(), Unattended()
YES_TO_CALLS = "A yes to tool calls"  # what widens approval
_asker: ContextVar[Asker] = ContextVar("asker", default=UNATTENDED)


def needs_terminal(what: str) -> Denied:
    """Why something is not done from a script, or by an AI client that can start commands."""
    reason = Phrase("standard input and standard output must be one")
    return Denied(Phrase("{what} needs a person at a terminal", what=what), reason, Phrase("Type the command yourself, in a terminal"))


def set_asker(asker: Asker) -> None:
    """Whoever asks in this task, and in those that it starts, from now on."""
    _asker.set(asker)


@contextlib.contextmanager
def asked_by(asker: Asker) -> Iterator[None]:
    """Whoever asks for what is done inside."""
    token = _asker.set(asker)
    try:
        yield
    finally:
        _asker.reset(token)


def asker_name() -> str:
    """Who asks now, for a person to read; empty for a person."""
    return _asker.get().name


async def confirm_widening(what: str) -> None:
    """Lets a verb go on that widens what may happen.

    Args:
        what: for the refusal, as the beginning of a sentence: "A yes to tool calls".

    Raises:
        Denied: nobody has confirmed it; says how somebody can.
    """
    asker = _asker.get()
    if not await asker.has_confirmed():
        raise asker.refusal(what)


async def must_wait() -> bool:
    """Whether a server's new or changed entry is to wait for a person's yes before it counts."""
    asker = _asker.get()
    return asker.proposes and not await asker.has_confirmed()
