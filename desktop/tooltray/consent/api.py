"""The API about what waits in the window until a person confirms it, and about the passphrase that confirms where there is no window."""

from typing import TYPE_CHECKING

from tooltray.foundation.confirmation import confirm_widening, current_asker
from tooltray.foundation.errors import Denied
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confirmations import ConfirmationSnapshot, PassphraseState
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import verb

if TYPE_CHECKING:
    from tooltray.consent.askers import Consent


class ConfirmationsApi:
    def __init__(self, *, consent: "Consent") -> None:
        self._consent = consent

    @verb("person")
    async def get_confirmations(self) -> list[ConfirmationSnapshot]:
        """Returns what commands want to allow and the user has to confirm in the window, the oldest first. Only the window may ask.

        Raises:
            Denied: the window has not asked.
        """
        _check_is_window()
        return self._consent.confirmations.waiting() if self._consent.confirmations else []

    @verb("person")
    async def answer_confirmation(self, id: str, yes: bool) -> None:
        """Takes the user's answer in the window. Only the window may call this, so that no program answers what it is asked itself.

        Raises:
            Denied: the window has not asked.
            NotFound: it waits no longer.
        """
        _check_is_window()
        if self._consent.confirmations:
            self._consent.confirmations.answer(id, yes)

    @verb("person")
    async def get_passphrase_state(self) -> PassphraseState:
        """Returns whether a passphrase is set, and how many tries there are.

        Raises:
            TooltrayError: its file cannot be read.
        """
        return await finish_in_thread(self._consent.passphrase.state)

    @verb("person")
    async def confirm_with_passphrase(self, passphrase: str) -> None:
        """Confirms by the passphrase what the same connection asks for from now on, where no window can be asked.

        Raises:
            Denied: it is another one, or too many were wrong.
            TooltrayError: none is set, or it cannot be read.
        """
        await self._consent.unlock(current_asker(), passphrase)

    @verb("person")
    async def set_passphrase(self, passphrase: str) -> None:
        """Sets the passphrase that confirms what commands allow where no window can be asked, or another one in its place.

        Raises:
            Denied: it was not confirmed; of another one, by the one that is set.
            TooltrayError: it is too short, or cannot be written.
        """
        await confirm_widening(Phrase("Setting a passphrase"))
        await finish_in_thread(self._consent.passphrase.set, passphrase)

    @verb("person")
    async def remove_passphrase(self) -> None:
        """Removes it: what commands allow is confirmed at the terminal then.

        Raises:
            Denied: it was not confirmed.
            TooltrayError: it cannot be removed.
        """
        await confirm_widening(Phrase("Removing the passphrase"))
        await finish_in_thread(self._consent.passphrase.remove)


def _check_is_window() -> None:
    if not current_asker().is_window:
        raise Denied(Phrase("Only Tooltray's window may do this"), Phrase("it is how a person confirms what commands want to allow"))
