"""Texts about servers that can be found: hits, starters, updates, and the registry's copy. Pure functions of snapshots."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from tooltray.foundation.snapshots.discovery import RegistryHit, RegistryOption, RegistryStatus, RegistryUpdate, StarterServer
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, shipped, tr
from tooltray.ui.problem_words import in_a_row, whole
from tooltray.ui.widgets.offer_list import Offer

KINDS = {"npm": "npm", "pypi": "PyPI", "nuget": "NuGet", "oci": "Docker", "mcpb": "MCPB"}
"""How packages are called everywhere; only what is elsewhere has a word of ours."""
HIT, STARTER, UPDATE = "hit:", "starter:", "update:"  # begin the keys of offers
OLD_S = 7 * 86_400  # seconds; new servers come every day, and a week's are missed


def kind_word(kind: str) -> str:
    return tr("Remote") if kind == "remote" else KINDS.get(kind, kind)


def option_title(option: RegistryOption) -> str:
    """Returns one way to install a server, in one line."""
    return f"{kind_word(option.kind)} · {option.label}"


def _here(name: str) -> tuple[tuple[str, str], ...]:
    return ((tr("Added as {name}", name=name), "success"),) if name else ()


def hit_offer(hit: RegistryHit) -> Offer:
    """Returns a hit of a search as an offer of the list."""
    chips = (*_here(hit.here), *((kind_word(kind), "neutral") for kind in hit.kinds))
    title = hit.title or hit.name
    name = f"{hit.name} · " if hit.title and hit.title != hit.name else ""
    return Offer(HIT + hit.name, title, f"{name}{' '.join(hit.description.split())}", chips, tr("Look"))


def starter_offers(starters: Sequence[StarterServer]) -> list[Offer]:
    """Returns the well-known servers, each category below its heading, in the order of the list."""
    offers: list[Offer] = []
    for category in dict.fromkeys(starter.category for starter in starters):
        offers.append(Offer("", shipped(category)))
        for starter in (each for each in starters if each.category == category):
            needs = ((tr("Needs {what}", what=shipped(starter.needs)), "neutral"),) if starter.needs else ()
            offers.append(Offer(STARTER + starter.id, starter.title, shipped(starter.good_for), (*_here(starter.here), *needs), tr("Add")))
    return offers


def update_offers(updates: Sequence[RegistryUpdate]) -> list[Offer]:
    """Returns the available updates, below a heading; empty without any."""
    offers = [Offer("", tr("Updates"))] if updates else []
    for update in updates:
        title = tr("{name}: {version} → {newest}", name=update.server, version=update.version, newest=update.newest)
        text = " · ".join(update.tools) or tr("What changes in its tools shows when it starts.")
        offers.append(Offer(UPDATE + update.server, title, text, (), tr("Update")))
    return offers


def status_line(status: RegistryStatus | None, now: datetime, found: str = "") -> tuple[str, str]:
    """Returns one line about the copy of the registry, and its tone: why it could not be refreshed, else how many servers of it can be
    searched, and how old it is.

    Args:
        found: how many servers a search has found.
    """
    text, tone = _copy_words(status, now) if status is not None else ("", "secondary")
    return " · ".join(filter(None, (found, text))), tone


def _copy_words(status: RegistryStatus, now: datetime) -> tuple[str, str]:
    if status.problem is not None and not status.is_updating:
        return whole(replace(status.problem, hint="")), "warning"  # what to do is the button beside it
    if not status.servers:
        return tr("Downloading the registry…") if status.is_updating else tr("Registry not downloaded yet"), "secondary"
    text = tr("{count} servers of the official registry, as of {when}.", count=f"{status.servers:,}", when=moment(status.updated_at, now))
    if status.is_updating or now.timestamp() - status.updated_at <= OLD_S:
        return text, "secondary"
    return in_a_row(text, tr("It is more than a week old; newer servers are missing.")), "warning"


def refresh_word(status: RegistryStatus | None) -> str:
    """Returns what the button beside that line does, or is doing."""
    if status is not None and status.is_updating:
        return tr("Refreshing…")
    return tr("Retry") if status is not None and status.problem is not None else tr("Refresh")


def found_text(shown: int, total: int) -> str:
    """Returns how many were found, as a sentence."""
    if not total:
        return ""
    if total > shown:
        return tr("{shown} of {count} found. Another word narrows it down.", shown=shown, count=f"{total:,}")
    return many(total, "1 found", "{count} found")
