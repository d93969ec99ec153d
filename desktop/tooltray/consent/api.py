"""The API about requests that wait in the window for a person's confirmation, and about the passphrase that confirms without a window."""

from typing import TYPE_CHECKING

from tooltray.foundation.confirm_widening import confirm_widening, current_asker
from tooltray.foundation.errors import Denied
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ConfirmationSnapshot, PassphraseState
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import verb

if TYPE_CHECKING:
    from tooltray.consent.askers import Consent


class ConfirmationsApi:
    def __init__(self, *, consent: "Consent") -> None:
        self._consent = consent

    @verb("person")
    async def get_confirmations(self) -> list[ConfirmationSnapshot]:
        """Returns the requests of commands that the user has to confirm in the window, the oldest first. Only the window may call this.

        Raises:
            Denied: the caller is not the window.
        """
        _check_is_window()
        return self._consent.confirmations.waiting() if self._consent.confirmations else []

    @verb("person")
    async def answer_confirmation(self, id: str, yes: bool) -> None:
        """Records the user's answer in the window. Only the window may call this, so that no program answers its own request.

        Raises:
            Denied: the caller is not the window.
            NotFound: it waits no longer.
        """
        _check_is_window()
        if self._consent.confirmations:
            self._consent.confirmations.answer(id, yes)

    @verb("person")
    async def get_passphrase_state(self) -> PassphraseState:
        """Returns whether a passphrase is set, and how many tries are left.

        Raises:
            TooltrayError: its file cannot be read.
        """
        return await finish_in_thread(self._consent.passphrase.state)

    @verb("person")
    async def confirm_with_passphrase(self, passphrase: str) -> None:
        """Confirms by the passphrase all later requests of the same connection, without a window.

        Raises:
            Denied: the passphrase is wrong, or too many were wrong.
            TooltrayError: no passphrase is set, or it cannot be read.
        """
        await self._consent.unlock(current_asker(), passphrase)

    @verb("person")
    async def set_passphrase(self, passphrase: str) -> None:
        """Sets or replaces the passphrase that confirms requests of commands without a window.

        Raises:
            Denied: the change was not confirmed; a replacement is confirmed by the present passphrase.
            TooltrayError: it is too short, or cannot be written.
        """
        await confirm_widening(Phrase("Setting a passphrase"))
        await finish_in_thread(self._consent.passphrase.set, passphrase)

    @verb("person")
    async def remove_passphrase(self) -> None:
        """Removes the passphrase: requests of commands are then confirmed at the terminal.

        Raises:
            Denied: it was not confirmed.
            TooltrayError: it cannot be removed.
        """
        await confirm_widening(Phrase("Removing the passphrase"))
        await finish_in_thread(self._consent.passphrase.remove)


def _check_is_window() -> None:
    if not current_asker().is_window:
        raise Denied(Phrase("Only Tooltray's window may do this"), Phrase("it is how a person confirms what commands want to allow"))
