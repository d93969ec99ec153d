"""`tooltray diagnostics` and `tooltray licences`: what a bug report needs, and under which licences this program comes.

Above it: run. Below it: a hub, for the diagnostics; the installation.
"""

import argparse

from tooltray.cli.hubs import started_hub
from tooltray.cli.terminal import answer, clean
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.upkeep import licence_text


def diagnostics(args: argparse.Namespace, home: Home) -> int:
    """Shows what a bug report needs, without secrets."""
    with started_hub(home) as hub:
        text = hub.ask(hub.api.program.get_diagnostics())
    return answer(args, {"text": text}, clean(text).rstrip())


def licences(args: argparse.Namespace, home: Home) -> int:
    text = licence_text()
    return answer(args, {"text": text}, text.rstrip())
