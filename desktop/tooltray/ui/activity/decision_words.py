"""The texts of decisions. Pure functions of the audit trail's entries."""

from collections.abc import Iterator, Mapping

from tooltray.foundation.snapshots.approvals import AuditEntry
from tooltray.ui.approval.confirmation_body import fact_name, fact_value
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.origins import folder_name
from tooltray.ui.widgets.server_text import one_line

COMPARED = frozenset({"grant", "session", "change"})
"""Facts that say nothing to a user at all."""
LONGEST = 300  # characters of a name on a line


def answer_words(entry: AuditEntry) -> str:
    """Returns the outcome of a decision."""
    words = {
        "yes": tr("Allowed"),
        "no": tr("Declined"),
        "late": tr("No answer"),
        "gone": tr("No one waited"),
        "narrowed": tr("Revoked"),
    }
    return words.get(entry.answer, "–")


def way_words(entry: AuditEntry) -> str:
    """Returns where a decision was made, and by which program."""
    words = {
        "window": tr("Window"),
        "terminal": tr("Terminal"),
        "passphrase": tr("Passphrase"),
        "program": tr("Program {name}", name=entry.who),
        "client": tr("Form of {client}", client=entry.who or tr("An AI client")),
        "script": tr("Script"),
    }
    return words.get(entry.way, "–")


def about_words(entry: AuditEntry) -> str:
    """Returns what a decision is about in names that the user knows: of the tool, the server, the client, the folder; without ids."""
    return one_line(" · ".join(dict.fromkeys(filter(None, _parts(dict(entry.about))))), LONGEST)


def facts(entry: AuditEntry) -> list[tuple[str, str]]:
    """Returns all details of a decision: their names and values."""
    found = [(_name(name), _value(name, value)) for name, value in entry.about.items() if name not in COMPARED]
    found = [(name, value) for name, value in found if value]
    return [*found, *([(tr("From"), entry.origin)] if entry.origin else [])]


def _parts(about: Mapping[str, str]) -> Iterator[str]:
    server, tool, kind = (about.get(name, "") for name in ("server", "tool", "kind"))
    if rule := about.get("rule"):
        yield say(rule)
        yield server
    elif tool:
        yield tr("{tool} of {server}", tool=tool, server=server) if server else tool
    elif kind == "reads":
        yield tr("Everything of {server} that reads", server=server)
    else:
        yield server
    for name in ("entries", "entry", "name", "settings", "token", "secrets", "edits", "choices", "client"):
        yield _value(name, about.get(name, ""))
    for name in ("project", "folder", "path"):
        yield folder_name(about[name]) if about.get(name) else ""
    if (answer := about.get("answer")) not in (None, "once"):
        yield _value("answer", answer)
    for name in ("expires_in_s", "until"):
        yield _value(name, about.get(name, ""))


def _name(name: str) -> str:
    names = {"edits": tr("AI client"), "choices": tr("Servers"), "entry": tr("Server"), "answer": tr("How long")}
    return names.get(name) or fact_name(name)


def _value(name: str, value: str) -> str:
    """Returns a detail's value in words; empty for one that has none."""
    if name == "edits":  # "connect:claude-code:/home/me/.claude.json", and more of them
        return ", ".join(dict.fromkeys(parts[1] for each in value.split(", ") if len(parts := each.split(":", 2)) == 3))
    if name == "choices":
        return many(len(value.split(", ")), "1 server", "{count} servers") if value else ""
    if name == "answer":
        words = {
            "once": tr("once"),
            "session": tr("for the session"),
            "like": tr("for some seconds"),
            "hour": tr("for an hour"),
            "day": tr("for a day"),
            "lock": tr("until the screen locks"),
            "always": tr("until you revoke it"),
            "reads": tr("everything that reads"),
        }
        return words.get(value, "")  # of a rule, which is told in words beside it
    return fact_value(name, value) if value else ""
