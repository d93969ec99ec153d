"""How commands are confirmed in a test: over a folder, with a window or without one."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.fakes.manual_wheel import ManualWheel

from tooltray.consent.askers import Consent
from tooltray.consent.confirmations import Confirmations
from tooltray.consent.passphrase import Passphrase
from tooltray.consent.questions import Inbox
from tooltray.foundation.confirm_widening import PERSON, Person, Wish, asked_by
from tooltray.foundation.events import EventBus
from tooltray.records.audit_trail import AuditTrail


def consent_in(folder: Path, bus: EventBus | None = None, *, has_window: bool = False, wheel: ManualWheel | None = None) -> Consent:
    """
    Args:
        folder: of the passphrase and the audit trail.
        bus: on which a window hears of questions.
    """
    bus, wheel = bus or EventBus(), wheel or ManualWheel()
    asked = Confirmations(inbox=Inbox(bus=bus, deadlines=wheel), bus=bus, deadlines=wheel, has_window=has_window, masked=str)  # type: ignore[arg-type]
    return Consent(
        trail=AuditTrail(folder / "audit.jsonl"),
        passphrase=Passphrase(folder / "passphrase.json"),
        known_programs=lambda: {"claude": "Claude Code"},
        confirmations=asked,
    )


class Meanwhile(Person):
    """Says yes once something else has happened."""

    def __init__(self, happen: Callable[[], Awaitable[object]]) -> None:
        self._happen = happen

    async def confirm(self, wish: Wish) -> None:
        with asked_by(PERSON):
            await self._happen()
