"""`tooltray audit`: shows the record of who allowed what, when and how, and checks that it is complete.

Where no hub runs, the record is read from the home's files.
"""

import argparse

from tooltray.cli import values
from tooltray.cli.hubs import Hub, any_hub
from tooltray.cli.parsers import Usage
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, answer_list, clean_line, moment
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import AuditEntry

PAGE = 1000  # decisions; a hub returns no more at once
READ_TIMEOUT_S = 60.0  # of some 30 MB on a slow disk
ANSWERS = {
    "yes": Phrase("yes"),
    "no": Phrase("no"),
    "late": Phrase("nobody answered"),
    "gone": Phrase("nobody waited for the answer"),
    "narrowed": Phrase("taken back"),
}
WAYS = {
    "window": Phrase("the window"),
    "terminal": Phrase("a terminal"),
    "passphrase": Phrase("the passphrase"),
    "program": Phrase("a program"),
    "client": Phrase("a form of the AI client"),
    "script": Phrase("a script"),
}
ROWS = 50


def declare(parser: Usage) -> None:
    parser.runs(audit)
    parser.flag("--verify", tr("say whether the record is as it was written; exit code 1 if not"))
    parser.takes("--limit", "N", tr("so many rows ({rows})", rows=ROWS), type=values.number, default=ROWS)


def audit(args: argparse.Namespace, home: Home) -> int:
    """Lists decisions, the newest last, or checks that none was changed, removed or inserted."""
    with any_hub(home) as hub:
        if args.verify:
            return _verify(args, hub)
        entries = _newest(hub, args.limit)[::-1]
    titles = (tr("NO"), tr("TIME"), tr("ANSWER"), tr("WHAT"), tr("ABOUT"), tr("BY"), tr("FROM"))
    return answer_list(args, entries, titles, _row, empty=tr("Nothing was decided yet."))


def _newest(hub: Hub, count: int) -> list[AuditEntry]:
    found: list[AuditEntry] = []
    while len(found) < count:
        asked, before = min(PAGE, count - len(found)), found[-1].number if found else 0
        page = hub.ask(hub.api.audit.get_audit(before=before, limit=asked), timeout_s=READ_TIMEOUT_S)
        found += page
        if len(page) < asked:
            break
    return found


def _verify(args: argparse.Namespace, hub: Hub) -> int:
    found = hub.ask(hub.api.audit.verify_audit(), timeout_s=READ_TIMEOUT_S)
    if args.json:
        answer(args, found)
        return 0 if found.is_whole else 1
    if not found.is_whole:
        hint = tr("Whoever wrote into it could have allowed something; look through: tooltray grants list, tooltray trust list")
        raise TooltrayError(tr("The audit trail is not as it was written"), "; ".join(found.problems), hint)
    print(tr("The audit trail is whole: numbers {first} to {last}.", first=found.first, last=found.last))
    return 0


def _row(entry: AuditEntry) -> tuple[str, ...]:
    about = ", ".join(f"{name}: {value}" for name, value in entry.about.items())
    way = say(WAYS.get(entry.way, entry.way)) + (f" ({entry.who})" if entry.who else "")
    answered = say(ANSWERS.get(entry.answer, entry.answer))
    return str(entry.number), moment(entry.at), answered, *(clean_line(each) for each in (say(entry.what), about, way, entry.origin))
