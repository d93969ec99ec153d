"""The list of folders: what waits for approval in each, what is trusted, and for which ones servers may be started. Pure functions of
snapshots."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.origins import visible_path
from tooltray.ui.projects.file_words import needs_care, trusted_how, trusted_title


class FolderRow(msgspec.Struct, frozen=True):
    """A row of the list: the servers of a folder that wait for approval, one that is trusted, or a folder for which the user's servers may
    be started.

    Attributes:
        path: of the folder; empty: programs have proposed the servers.
    """

    path: str
    requests: tuple[TrustRequest, ...] = ()
    trusted: TrustedEntry | None = None

    @property
    def key(self) -> tuple[str, bool, str]:
        return self.path, bool(self.requests), self.trusted.entry if self.trusted is not None else ""


def folder_rows(requests: Sequence[TrustRequest], allowed: Iterable[str], trusted: Iterable[TrustedEntry]) -> list[FolderRow]:
    """Returns the rows, first those that wait."""
    projects = dict.fromkeys(request.project for request in requests)
    waiting = [FolderRow(path, tuple(each for each in requests if each.project == path)) for path in projects]
    known = [*(FolderRow(path) for path in allowed), *(FolderRow(each.project, trusted=each) for each in trusted)]
    return [*waiting, *sorted(known, key=lambda row: row.key)]


def folder(row: FolderRow) -> str:
    return visible_path(row.path) if row.path else tr("Programs")


def servers(row: FolderRow) -> str:
    if row.requests:
        return ", ".join(request.entry for request in row.requests)
    return trusted_title(row.trusted) if row.trusted is not None else tr("Your servers")


def state(row: FolderRow) -> tuple[str, str]:
    """Returns the state of a row, as a chip."""
    if any(needs_care(request) for request in row.requests):
        return tr("Look closely"), "warning"
    if row.requests:
        return (tr("Changed"), "warning") if all(request.is_change for request in row.requests) else (tr("New"), "info")
    return (tr("Trusted"), "") if row.trusted is not None else (tr("Allowed"), "")


def state_tip(row: FolderRow) -> str:
    if row.requests:
        return tr("Servers of a project run only after you have seen what they start.")
    if row.trusted is not None:
        return trusted_how(row.trusted)
    return tr("Servers that work on a project may be started for this folder, and for all below it.")


def since(row: FolderRow) -> str:
    return moment(row.trusted.trusted_at, datetime.now()) if row.trusted is not None else ""


def action(row: FolderRow) -> str:
    return tr("Review…") if row.requests else tr("Revoke")
