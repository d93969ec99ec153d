"""`tooltray bridge show|use`: the program that AI clients start, and which installation of Tooltray it leads to. Needs no hub.

The path belongs to the user, whatever home a command is given.
"""

import argparse
import json

from tooltray.cli.parsers import Usage, command
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.installs.installation import Installation, this_installation
from tooltray.foundation.installs.installations import Installations, bridge_entry
from tooltray.foundation.phrases import as_json


def declare(parser: Usage) -> None:
    bridge = parser.subcommands()
    command(bridge, "show", tr("show its path, and which installation of Tooltray it starts"), show)
    command(bridge, "use", tr("make it start this installation"), use)


def show(args: argparse.Namespace, home: Home) -> int:
    """Shows the path, the installations behind it, and the entry for AI clients."""
    own = _own_home()
    installations = Installations(own)
    known, owner = installations.known(), installations.owner
    entry = bridge_entry(home)
    value = {"path": str(installations.path), "owner": owner, "installations": known, "entry": entry}
    lines = [f"{installations.path} starts {owner.words}" if owner else tr("{path} is not in use yet.", path=installations.path)]
    lines += [f"  {clean_line(_line(each, owner))}" for each in known]
    if not owner:
        lines.append(tr("To let it start this installation: tooltray bridge use"))
    lines.append(tr("Paste this into the config of an AI client:\n{entry}", entry=json.dumps(entry, indent=2, ensure_ascii=False)))
    return answer(args, as_json(value), *lines)


def use(args: argparse.Namespace, home: Home) -> int:
    """Makes AI clients start this installation."""
    own, this = _own_home(), this_installation()
    own.prepare()
    installations = Installations(own)
    installations.use(this)
    value = {"path": str(installations.path), "owner": this}
    return answer(args, as_json(value), clean_line(tr("{path} starts {words}.", path=installations.path, words=this.words)))


def _line(installation: Installation, owner: Installation | None) -> str:
    mark = tr("in use") if installation == owner else "installed"
    return f"{mark}: {installation.words}: {' '.join(installation.bridge)}"


def _own_home() -> Home:
    own = default_home()
    if own is None:
        raise TooltrayError(tr("No home folder found"), tr("HOME is not set and the user database does not know this user"), tr("Set HOME"))
    return own
