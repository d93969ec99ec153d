"""What a server may do, and its confinement, in words: for cards, details, sheets and the tab where it is chosen. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, Files, Net, RefusedThing
from tooltray.foundation.snapshots.servers import AccessChoice, ServerSnapshot
from tooltray.ui.figures import moment
from tooltray.ui.i18n import say, tr

FILES: tuple[Files, ...] = ("open", "own", "read")
NETWORKS: tuple[Net, ...] = ("open", "none", "hosts")
LONGEST_HOST = 24  # characters of the one that is named on a card
MOST_REFUSED = 3


def files_title(files: str) -> str:
    return {"own": tr("Sandboxed"), "read": tr("Read only")}.get(files) or tr("Open: all files")


def files_text(files: str) -> str:
    """Returns what a server may do with files, in a sentence."""
    own = tr("It reads and changes its own package and caches, its project, the folders in its arguments, and those below.")
    read = tr("It reads its own package, its project, and the folders below, and changes nothing but its own caches.")
    return {"own": own, "read": read}.get(files) or tr("Can read and change all your files, including keys and passwords.")


def network_title(network: str) -> str:
    return {"none": tr("No network"), "hosts": tr("Only these hosts")}.get(network) or tr("Full network")


def network_text(network: str) -> str:
    """Returns what a server may reach, in a sentence."""
    none = tr("It connects to nothing. Its package is installed before it starts.")
    hosts = tr("It connects to the hosts below and to nothing else.")
    return {"none": none, "hosts": hosts}.get(network) or tr("It connects to any address, also on this computer and in your network.")


def in_short(confinement: ConfinementSnapshot | None) -> str:
    """Returns a server's confinement in a few words; empty if it is open, or if the server has no process."""
    if confinement is None or is_open(confinement):
        return ""
    if confinement.is_in_vain:
        return tr("Not sandboxed")
    words = [files_title(confinement.files)] if confinement.files != "open" else []
    if confinement.network == "none":
        words.append(tr("No network"))
    elif confinement.network == "hosts":
        words.append(_hosts(confinement.hosts))
    return " · ".join(words)


def in_full(confinement: ConfinementSnapshot | None) -> str:
    """Returns the short text, and what the confinement lacks."""
    if confinement is None:
        return ""
    short = in_short(confinement) or tr("Not sandboxed: can do anything you can")
    lines = [*([] if confinement.is_in_vain and confinement.missing else [short]), *map(say, confinement.missing)]  # these say it, too
    return "\n".join(filter(None, (*lines, refused_in_full(confinement))))


def refused_in_short(confinement: ConfinementSnapshot | None) -> str:
    """Returns how much was refused to a server since it started; empty if nothing was."""
    count = len(confinement.refused) if confinement else 0
    return tr("{count} refused", count=count) if count else ""


def refused_in_full(confinement: ConfinementSnapshot) -> str:
    """Returns the latest refusals; empty without any."""
    titles = [thing.name or tr("something else") for thing in confinement.refused[:MOST_REFUSED]]
    more = ["…"] if len(confinement.refused) > MOST_REFUSED else []
    return tr("Refused: {things}", things=", ".join([*titles, *more])) if titles else ""


def refused_title(thing: RefusedThing) -> str:
    return thing.name or tr("Something was refused. Watch, below, finds out what.")


def refused_details(thing: RefusedThing, now: datetime) -> str:
    """Returns what the server tried, how often, and when last."""
    what = {"host": tr("Connecting"), "path": tr("Changing") if thing.is_write else tr("Reading")}.get(thing.kind, "")
    often = tr("{count} times", count=thing.count) if thing.count > 1 else ""
    return " · ".join(filter(None, (what, often, moment(thing.at, now))))


def _of_entry(entry: Mapping[str, object]) -> ConfinementSnapshot:
    given = entry.get("confinement")
    members = given if isinstance(given, Mapping) else {"files": given}
    files: Files = next((each for each in FILES if each == members.get("files")), "open")
    network: Net = next((each for each in NETWORKS if each == members.get("network")), "open")
    return ConfinementSnapshot(files=files, network=network)


def is_entry_sandboxed(entry: Mapping[str, object]) -> bool:
    """Returns whether an entry that is not stored yet limits a server to its own files."""
    return _of_entry(entry).files != "open"


def entry_words(entry: Mapping[str, object]) -> str:
    """Returns the confinement of an entry that is not stored yet, with its meaning."""
    shown = _of_entry(entry)
    if is_open(shown):
        return tr("Not sandboxed: can do anything you can")
    text = tr("cannot reach your other files, keys and passwords") if shown.files != "open" else ""
    return tr("{words}: {meaning}", words=in_short(shown), meaning=text) if text else in_short(shown)


def is_open(confinement: ConfinementSnapshot) -> bool:
    return confinement.files == "open" and confinement.network == "open"


def _hosts(hosts: Sequence[str]) -> str:
    if not hosts:
        return tr("No network yet")
    return hosts[0] if len(hosts) == 1 and len(hosts[0]) <= LONGEST_HOST else tr("Hosts: {count}", count=len(hosts))


def choice_title(choice: AccessChoice | None) -> str:
    """Returns the name of a choice; None: of settings that make none."""
    return {"careful": tr("Careful"), "trusted": tr("Trusted"), "free": tr("Free"), None: tr("Custom")}[choice]


def choice_text(choice: AccessChoice, *, is_process: bool) -> str:
    """Returns what a choice means.

    Args:
        is_process: the server runs on this computer, so that a sandbox makes a difference.
    """
    if choice == "careful":
        return tr("Sandboxed, changes ask")
    if choice == "trusted":
        return tr("Changes ask, not sandboxed") if is_process else tr("Changes ask")
    return tr("Never asks, not sandboxed") if is_process else tr("Never asks")


def access_words(server: ServerSnapshot) -> str:
    """Returns in one line what a server may do; empty if that cannot be chosen."""
    access, confinement = server.access, server.confinement
    if access is None:
        return ""
    words = {
        "all": tr("Everything runs without asking."),
        "reads": tr("Reads run. Changes ask."),
        "some": tr("Some calls run without asking."),
        "nothing": tr("Every call asks first."),
    }[access.runs]
    if access.runs in ("all", "reads") and any(rule.startswith("ask:") for rule in server.auto_approve):
        words = tr("{words} Some tools ask all the same.", words=words)
    if access.has_call_rules and access.runs != "all":
        words = tr("{words} Its rules allow some calls.", words=words)
    if confinement is None:
        return words
    return tr("{words} {sandbox}.", words=words, sandbox=in_short(confinement) or tr("Not sandboxed"))


def differs(server: ServerSnapshot) -> str:
    """Returns what makes a server's settings different from all choices, and its sandbox if rules do; empty if they make one."""
    access, confinement = server.access, server.confinement
    if access is None or not access.differs or access.runs in ("all", "reads") or confinement is None:
        return say(access.differs) if access is not None else ""
    return tr("{words} {sandbox}.", words=say(access.differs), sandbox=in_short(confinement) or tr("Not sandboxed"))
