"""`tooltray servers test`: tests a server once."""

import argparse
import uuid

from tooltray.cli.hubs import started_hub
from tooltray.cli.server_commands.servers_command import START_TIMEOUT_S, note_start
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, count, print_note, problem_line
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.entries import ServerTest


def try_out(args: argparse.Namespace, home: Home) -> int:
    """Connects once to a server with its current settings; returns 1 if it does not work."""
    with started_hub(home) as hub:
        note_start(args.name)
        found = hub.ask(hub.api.servers.test_server(test=uuid.uuid4().hex, name=args.name), timeout_s=START_TIMEOUT_S)
    if not args.json and not found.is_ok:
        for line in found.output:
            print_note(clean_line(line))
    answer(args, found, _in_words(found))
    return 0 if found.is_ok else 1


def _in_words(test: ServerTest) -> str:
    if not test.is_ok:
        return tr("{server} does not work: {reason}", server=test.server, reason=problem_line(test.problem))
    tokens = count(test.tokens, "token")
    about = tr("about {tokens}", tokens=tokens) if test.is_estimated else tokens
    return tr(
        "Connected in {seconds} s, {tools}, {tokens}.", seconds=f"{test.took_s:.1f}", tools=count(len(test.tools), "tool"), tokens=about
    )
