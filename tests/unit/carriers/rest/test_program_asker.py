"""A program with a token as the one who asks."""

from pathlib import Path

from tooltray.carriers.rest.rest_api import ProgramAsker
from tooltray.consent.tokens.api_tokens import TokenHolder
from tooltray.foundation.confirmation import Wish
from tooltray.foundation.phrases import Phrase
from tooltray.records.audit_trail import AuditTrail


class Trusting:
    async def has(self, digest: str) -> bool:
        return True


async def test_what_a_trusted_program_widens_or_narrows_is_recorded_and_what_it_reads_is_not(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    asker = ProgramAsker(TokenHolder("script", "manage", "digest", may_be_trusted=True), Trusting(), AuditTrail(path))
    asker.on_asked(60.0)  # it waits for a person as long as it likes
    await asker.confirm(Wish(Phrase("Reading a secret"), is_reading=True))
    assert not path.exists()
    await asker.confirm(Wish(Phrase("Allowing a folder")))
    await asker.note(Wish(Phrase("A folder")))
    assert [each in line for each, line in zip(("yes", "narrowed"), path.read_text().splitlines(), strict=True)] == [True, True]
