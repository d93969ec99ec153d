"""`tooltray servers watch`: runs a server unconfined for a while, and proposes the tightest profile that would allow everything that the
server did.
"""

import argparse
import time

from tooltray.cli.hubs import RunningHub, started_hub
from tooltray.cli.person import confirmed, is_person_there
from tooltray.cli.server_commands.servers_command import START_TIMEOUT_S, note_start
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, clean_line, print_note
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.confinement import WatchProposal, WatchSnapshot, in_words, proposal_in_words

LOOK_EVERY_S = 0.5
LEAST_S = 0.05  # seconds between polls while no time is left and the server is restarted
MOST_REFUSED = 20  # lines; the window shows more


def watch(args: argparse.Namespace, home: Home) -> int:
    """Watches a server, shows the proposal, and asks whether to use it."""
    with started_hub(home) as hub:
        note_start(args.name)
        hub.ask(hub.api.confinement.watch_server(server=args.name, duration_s=args.duration_s), timeout_s=START_TIMEOUT_S)
        print_note(tr("{name} runs unconfined now. Use its tools as you do; Ctrl-C ends it earlier.", name=args.name))
        found = _watched(hub, args.name)
        if found.proposal is None:
            return answer(args, found, found.problem or tr("Nothing was seen of {name}.", name=args.name)) or 1
        answer(args, found, "\n".join(_lines(found.proposal)))
        is_used = args.yes or (not args.json and is_person_there() and confirmed(tr("Use this?"), yes=False))
        if is_used:
            hub.ask(hub.api.confinement.apply_proposal(server=args.name), timeout_s=START_TIMEOUT_S)
            print_note(tr("{name} is confined like this from now on.", name=args.name))
    return 0


def _watched(hub: RunningHub, name: str) -> WatchSnapshot:
    """Waits until the time is over, or Ctrl-C."""
    verbs = hub.api.confinement
    try:
        while (found := hub.ask(verbs.get_watch(server=name), timeout_s=START_TIMEOUT_S)).state == "watching":
            time.sleep(min(LOOK_EVERY_S, max(found.left_s, LEAST_S)))
    except KeyboardInterrupt:
        found = hub.ask(verbs.stop_watching(server=name), timeout_s=START_TIMEOUT_S)
    return found


def _lines(proposal: WatchProposal) -> list[str]:
    lines = [tr("Proposed:"), *(f"  {clean_line(say(each))}" for each in proposal_in_words(proposal))]
    if proposal.refused:
        lines.append(tr("Of what was seen it would have refused {count}:", count=proposal.refused_count))
        lines += [f"  {clean_line(say(in_words(each)))}" for each in proposal.refused[:MOST_REFUSED]]
    return lines
