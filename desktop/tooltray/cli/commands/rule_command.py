"""`tooltray grants rule ...`: adds a rule on arguments, as JSON; its meaning and the recent calls that it covers are shown before consent.

Like every consent it needs a terminal at both ends.
"""

import argparse
import json

from tooltray.cli.commands.approve_command import LIST_TIMEOUT_S
from tooltray.cli.hubs import started_hub
from tooltray.cli.person import check_terminal, is_allowed
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, clean_line, cut, day, print_json, print_table
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.approvals import RulePreview, tried_in_words

LINE_COLUMNS = 80  # of the arguments of each recent call
MOST_SHOWN = 20  # recent calls


def add_rule(args: argparse.Namespace, home: Home) -> int:
    """Shows what a rule means, and adds it after the person has consented."""
    rule = _read(args.rule)
    if not args.preview:
        check_terminal()
    with started_hub(home) as hub:
        preview = hub.ask(hub.api.approvals.preview_rule(server=args.server, rule=rule), timeout_s=LIST_TIMEOUT_S)
        if args.preview and args.json:
            print_json(preview)
            return 0
        _print(preview)
        if args.preview:
            return 0
        if not is_allowed():
            return 1
        ends = {"expires_in_s": args.duration, **({"until": "lock"} if args.until_lock else {})}
        adding = hub.api.approvals.add_rule(server=args.server, rule=rule, client=args.client or "", **ends)
        grant = hub.ask(adding, timeout_s=LIST_TIMEOUT_S)
    return answer(args, grant, tr("Allowed. To take it back: tooltray grants remove {id}", id=clean_line(grant.id)))


def _read(text: str) -> dict[str, object]:
    """
    Raises:
        TooltrayError: the rule is not a JSON object.
    """
    try:
        rule = json.loads(text)
    except (ValueError, RecursionError):
        rule = None
    if not isinstance(rule, dict):
        raise TooltrayError(tr("This is no rule"), tr("a JSON object is wanted"), tr("Put it in quotation marks of your shell."))
    return rule


def _print(preview: RulePreview) -> None:
    print(tr("Runs without asking: {calls}.", calls=clean_line(preview.words)))
    for said in (*preview.problems, *preview.cautions):
        print(tr("Careful: {warning}", warning=clean_line(said)))
    for said in tried_in_words(preview):
        print(say(said))
    rows = [
        [tr("yes") if each.is_covered else tr("no"), day(each.at), each.tool, cut(clean_line(each.line), LINE_COLUMNS)]
        for each in preview.calls[:MOST_SHOWN]
    ]
    if rows:
        print_table((tr("COVERED"), tr("WHEN"), tr("TOOL"), tr("CALLED WITH")), rows)
