"""The API about what people decided."""

from typing import TYPE_CHECKING

from tooltray.foundation.snapshots.audit import AuditCheck, AuditEntry
from tooltray.foundation.verbs import verb

if TYPE_CHECKING:
    from tooltray.records.audit.audit_trail import AuditTrail


class AuditApi:
    def __init__(self, *, trail: "AuditTrail") -> None:
        self._trail = trail

    @verb("manage")
    async def get_audit(self, before: int = 0, limit: int = 200) -> list[AuditEntry]:
        """Who allowed, refused or took back what, when and by which way, the newest first.

        Args:
            before: only what has a number below this one; 0: from the newest.
            limit: at most 1,000.

        Raises:
            TooltrayError: it cannot be read.
        """
        return await self._trail.entries(before, limit)

    async def verify_audit(self) -> AuditCheck:
        """Whether the record of decisions is as it was written: nothing changed, taken out or put in.

        Raises:
            TooltrayError: it cannot be read.
        """
        return await self._trail.check()
