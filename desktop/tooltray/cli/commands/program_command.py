"""`tooltray diagnostics` and `tooltray licences`: the facts for a bug report, and the licences of this program."""

import argparse

from tooltray.cli.hubs import started_hub
from tooltray.cli.terminal import answer, clean
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.installation import licence_text


def diagnostics(args: argparse.Namespace, home: Home) -> int:
    """Shows the diagnostics for a bug report, without secrets."""
    with started_hub(home) as hub:
        text = hub.ask(hub.api.program.get_diagnostics())
    return answer(args, {"text": text}, clean(text).rstrip())


def licences(args: argparse.Namespace, home: Home) -> int:
    text = licence_text()
    return answer(args, {"text": text}, text.rstrip())
