"""The API of the audit trail."""

from typing import TYPE_CHECKING

from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.foundation.verbs import verb

if TYPE_CHECKING:
    from tooltray.records.audit.audit_trail import AuditTrail


class AuditApi:
    def __init__(self, *, trail: "AuditTrail") -> None:
        self._trail = trail

    @verb("manage")
    async def get_audit(self, before: int = 0, limit: int = 200) -> list[AuditEntry]:
        """Returns who allowed, refused or revoked what, when and in which way, the newest first.

        Args:
            before: only entries with a number smaller than this; 0: from the newest.
            limit: at most 1,000.

        Raises:
            TooltrayError: the audit trail cannot be read.
        """
        return await self._trail.entries(before, limit)

    async def verify_audit(self) -> AuditCheck:
        """Checks that the audit trail is as it was written: no line was changed, removed or inserted.

        Raises:
            TooltrayError: the audit trail cannot be read.
        """
        return await self._trail.check()
