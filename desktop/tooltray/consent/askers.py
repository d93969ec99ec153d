"""The askers of a hub, and how the user confirms their requests: actions in the window by themselves; commands in the window, by a
passphrase or at a terminal.

Where a desktop runs, commands are confirmed in its window. Otherwise they are confirmed by the passphrase, if the user has set one, else at
the terminal: a command there counts as typed by the user, although a program can open a terminal of its own. Each decision is in the audit
trail before it takes effect.
"""

import asyncio
from collections.abc import Callable, Mapping

from tooltray.consent.ancestry import Origin, origin_of
from tooltray.consent.confirmations import LATE, NO, YES, Confirmations
from tooltray.consent.passphrase import Passphrase
from tooltray.foundation.confirm_widening import Asker, NeedsPassphrase, Person, Wish, needs_terminal
from tooltray.foundation.errors import Denied
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.records.audit_trail import AuditTrail, Decision

WINDOW, BY_PASSPHRASE, TERMINAL, SCRIPT = "window", "passphrase", "terminal", "script"
GONE = "gone"  # the asker did not wait for the answer


class Consent:
    """Makes askers. Belongs to one event loop."""

    def __init__(
        self,
        *,
        trail: AuditTrail,
        passphrase: Passphrase,
        known_programs: Callable[[], Mapping[str, str]],
        confirmations: Confirmations | None = None,
    ) -> None:
        """
        Args:
            known_programs: gives the names of AI clients by their programs' names; blocks.
            confirmations: None: no hub runs, so no window can ask.
        """
        self.trail, self.passphrase, self.confirmations = trail, passphrase, confirmations
        self._known_programs = known_programs
        self._comparing = asyncio.Lock()

    @property
    def has_window(self) -> bool:
        """Whether commands are confirmed in a window."""
        return self.confirmations is not None and self.confirmations.has_window

    def window(self) -> "WindowAsker":
        """Returns the asker of what the user does in the window itself."""
        return WindowAsker(self.trail)

    def command(self, *, pid: int, is_at_terminal: bool) -> "CommandAsker":
        """Returns the asker of a command, or of another program with the user's rights.

        Args:
            pid: of its process; 0 if the system does not report it.
            is_at_terminal: the command claims that a user typed it at a terminal.
        """
        return CommandAsker(self, pid=pid, is_at_terminal=is_at_terminal)

    async def origin(self, pid: int) -> Origin:
        """Looks up the processes that a request comes from."""
        return await asyncio.to_thread(lambda: origin_of(pid, self._known_programs())) if pid else Origin()

    async def unlock(self, asker: Asker, passphrase: str) -> None:
        """See CommandAsker.unlock; other askers have no use for a passphrase."""
        if isinstance(asker, CommandAsker):
            await asker.unlock(passphrase)

    async def compare(self, given: str) -> str:
        """See Passphrase.check; one at a time, so that typing in two places gives no more tries."""
        async with self._comparing:
            return await finish_in_thread(self.passphrase.check, given)


class WindowAsker(Person):
    """The user at the window, which shows the details before it calls a verb that widens something."""

    is_window, way = True, WINDOW

    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail

    async def confirm(self, wish: Wish) -> None:
        if not wish.is_reading:
            await self._trail.record(decision_of(wish, YES, WINDOW))

    async def note(self, wish: Wish) -> None:
        await self._trail.note(decision_of(wish, "narrowed", self.way))


class CommandAsker(Person):
    """One connection of a command.

    Attributes:
        tell: called with the number of seconds that the user has for an answer, when the user is asked.
        type_passphrase: asks for the passphrase if the command runs in this process; blocks. None: the passphrase is given to `unlock`.
    """

    def __init__(self, consent: Consent, *, pid: int, is_at_terminal: bool) -> None:
        self._consent, self._pid, self._is_at_terminal = consent, pid, is_at_terminal
        self.way = TERMINAL if is_at_terminal else SCRIPT
        self._unlocked = ""  # the mark of the passphrase that was given: see Passphrase.mark
        self.tell: Callable[[float], None] = lambda seconds: None
        self.type_passphrase: Callable[[], str] | None = None

    async def has_confirmed(self) -> bool:
        return False

    def on_asked(self, seconds: float) -> None:
        self.tell(seconds)

    async def unlock(self, passphrase: str) -> None:
        """Accepts the passphrase, which then confirms all later requests of this connection.

        Raises:
            TooltrayError: no passphrase is set, or this one is wrong.
        """
        if not self._consent.passphrase.is_set:
            raise Denied(Phrase("No passphrase is set"), hint=Phrase("Set one with: tooltray passphrase set"))
        self._unlocked = await self._consent.compare(passphrase)

    async def confirm(self, wish: Wish) -> None:
        if wish.is_reading:
            self._check_terminal(wish)
            return
        origin = await self._consent.origin(self._pid)
        way = await self._confirmed(wish, origin)
        await self._consent.trail.record(decision_of(wish, YES, way, origin=origin))

    async def note(self, wish: Wish) -> None:
        origin = await self._consent.origin(self._pid)
        await self._consent.trail.note(decision_of(wish, "narrowed", self.way, origin=origin))

    async def _confirmed(self, wish: Wish, origin: Origin) -> str:
        """Returns the way in which the user confirmed a request."""
        if self._consent.has_window:
            await self._ask_window(wish, origin)
            return WINDOW
        if self._consent.passphrase.is_set:
            if self._unlocked != await finish_in_thread(self._consent.passphrase.mark):
                await self._ask_passphrase(wish)
            return BY_PASSPHRASE
        self._check_terminal(wish)
        return TERMINAL

    def _check_terminal(self, wish: Wish) -> None:
        if not self._is_at_terminal:
            raise needs_terminal(wish.what)

    async def _ask_window(self, wish: Wish, origin: Origin) -> None:
        assert self._consent.confirmations is not None
        if wish.is_shown:
            title = Phrase("{what} is given in Tooltray's window", what=wish.what)
            raise Denied(title, Phrase("it asks about the same thing there"), Phrase("Answer it there; nothing was allowed"))
        answer = GONE
        try:
            answer = await self._consent.confirmations.ask(wish, origin, self.on_asked)
        except Denied:
            answer = NO
            raise
        finally:
            if answer != YES:
                await self._consent.trail.note(decision_of(wish, answer, WINDOW, origin=origin))
        if answer != YES:
            reason = (
                Phrase("no one answered in Tooltray's window in time") if answer == LATE else Phrase("you declined it in Tooltray's window")
            )
            raise Denied(Phrase("{what} was not confirmed", what=wish.what), reason, Phrase("Nothing was allowed"))

    async def _ask_passphrase(self, wish: Wish) -> None:
        if self.type_passphrase is None:
            title = Phrase("{what} needs the passphrase", what=wish.what)
            raise NeedsPassphrase(title, Phrase("a person has set one for it"), Phrase("Type the command yourself, in a terminal"))
        await self.unlock(await asyncio.to_thread(self.type_passphrase))


def decision_of(wish: Wish, answer: str, way: str, *, who: str = "", origin: Origin | None = None) -> Decision:
    """Returns the audit trail's entry about a request, without the request's arguments."""
    return Decision(wish.what, answer, way, who, str(origin or ""), wish.verb, wish.about)
