"""What a server's confinement comes to, in words: for cards, details, sheets and the tab where it is chosen. Pure.

Above it: those views. Below it: snapshots.
"""

from collections.abc import Sequence

from tooltray.snapshots.confinement import ConfinementSnapshot
from tooltray.ui.i18n import say, tr

MOST_HOSTS = 3  # named in one line


def files_title(files: str) -> str:
    return {"own": tr("Own files"), "read": tr("Read only")}.get(files) or tr("Open")


def files_text(files: str) -> str:
    """Returns what a server may do with files, in a sentence."""
    own = tr("It reads and changes its own package and caches, its project, and the folders below.")
    read = tr("The same, but it changes nothing except its own caches.")
    return {"own": own, "read": read}.get(files) or tr("Whatever you may do yourself, your keys and passwords included.")


def network_title(network: str) -> str:
    return {"none": tr("No network"), "hosts": tr("Only these hosts")}.get(network) or tr("All of the network")


def network_text(network: str) -> str:
    """Returns what a server may reach, in a sentence."""
    none = tr("It connects to nothing. Its package is installed before it starts.")
    hosts = tr("It connects to the hosts below and to nothing else.")
    return {"none": none, "hosts": hosts}.get(network) or tr("It connects to any address, also on this computer and in your network.")


def in_short(confinement: ConfinementSnapshot | None) -> str:
    """Returns a server's confinement in a few words; empty: it is open, or no process."""
    if confinement is None or is_open(confinement):
        return ""
    if confinement.is_in_vain:
        return tr("Not confined")
    words = [files_title(confinement.files)] if confinement.files != "open" else []
    if confinement.network == "none":
        words.append(tr("No network"))
    elif confinement.network == "hosts":
        words.append(_hosts(confinement.hosts))
    return " · ".join(words)


def in_full(confinement: ConfinementSnapshot | None) -> str:
    """Returns the same with what is missing of it."""
    if confinement is None:
        return ""
    short = in_short(confinement) or tr("Open: whatever you may do")
    return "\n".join([short, *map(say, confinement.missing)])


def is_open(confinement: ConfinementSnapshot) -> bool:
    return confinement.files == "open" and confinement.network == "open"


def _hosts(hosts: Sequence[str]) -> str:
    if not hosts:
        return tr("No network")
    if len(hosts) > MOST_HOSTS:
        return tr("{count} hosts", count=len(hosts))
    return ", ".join(hosts)
