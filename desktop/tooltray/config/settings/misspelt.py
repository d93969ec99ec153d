"""Misspelt fields that restrict something: an unknown field is kept and ignored, so a mistake opens what it was to close.

Fields of other programs are not slips: only a field that looks like one of these is reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from pydantic.alias_generators import to_camel

from tooltray.config.settings.document import Document
from tooltray.config.settings.usable import CORRECT_IT, Path, Slip, printable
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase

ALIKE = 0.8  # of 1: one or two letters of a word; "timeout" is not taken for "callTimeout"
OF_SERVER = (
    *("autoApprove", "callRules", "callsPerMinute", "confinement", "disable", "disabledTools", "isolation", "maxCalls", "projects"),
    *("resultLimit", "toolFilter"),
)
OF_CLIENT = ("autoApprove", "callRules", "flowGuard", "mode", "profile", "reads", "resultLimit")
OF_PARTS: Mapping[str, Sequence[str]] = {
    "approvals": ("flowGuard", "sameForSeconds"),
    "results": ("megabytes",),
    "activity": ("contents", "contentsDays", "contentsUntil", "days", "line", "megabytes"),
    "publish": ("clients", "feedback", "http", "lazyLoad", "mode", "naming"),
}
AT_TOP = ("activity", "approvals", "mcpEnabled", "publish", "results", "secretCommands")


def misspelt(document: Document) -> Iterator[Slip]:
    """Yields a slip for each misspelt field; its value is ignored."""
    yield from _alike(document, (), AT_TOP)
    for part, fields in OF_PARTS.items():
        yield from _alike(document.get(part), (part,), fields)
    publish = document.get("publish")
    if isinstance(publish, Mapping):
        yield from _in_each(publish.get("clients"), ("publish", "clients"), OF_CLIENT)
    yield from _in_each(document.get("mcpServers"), ("mcpServers",), OF_SERVER)


def _in_each(members: object, path: Path, fields: Sequence[str]) -> Iterator[Slip]:
    if isinstance(members, Mapping):
        for name, member in members.items():
            yield from _alike(member, (*path, name), fields)


def _alike(given: object, path: Path, fields: Sequence[str]) -> Iterator[Slip]:
    if not isinstance(given, Mapping):
        return
    for key in given:
        if to_camel(key) not in fields and (found := get_close_matches(key, fields, 1, ALIKE)) and found[0] not in given:
            name = printable(".".join(map(str, (*path, key))))
            title = Phrase("{field} in the settings means nothing", field=name)
            yield Slip(Problem(title, Phrase("it looks like '{known}'", known=found[0]), CORRECT_IT), (*path, key))
