"""`tooltray autostart`, `bridge`, `diagnostics` and `licences`: this installation of Tooltray, and the facts about it.

Only the diagnostics need a hub. The bridge's path belongs to the user, whatever home a command is given.
"""

import argparse
import json
from functools import partial

from tooltray.cli.arguments import Usage, command
from tooltray.cli.hubs import started_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean, clean_line
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.installs.installation import Installation, licence_text, this_installation
from tooltray.foundation.installs.installations import Installations, bridge_entry
from tooltray.foundation.phrases import as_json


def diagnostics(args: argparse.Namespace, home: Home) -> int:
    """Shows the diagnostics for a bug report, without secrets."""
    with started_hub(home) as hub:
        text = hub.ask(hub.api.program.get_diagnostics())
    return answer(args, {"text": text}, clean(text).rstrip())


def licences(args: argparse.Namespace, home: Home) -> int:
    text = licence_text()
    return answer(args, {"text": text}, text.rstrip())


def declare_autostart(parser: Usage) -> None:
    autostart = parser.subcommands()
    command(autostart, "on", tr("start when you log in"), partial(_switch, True))
    command(autostart, "off", tr("do not start when you log in"), partial(_switch, False))
    command(autostart, "status", tr("show whether it starts when you log in"), status)


def _switch(is_on: bool, args: argparse.Namespace, home: Home) -> int:
    start_at_login.switch(on=is_on)
    return status(args, home)


def status(args: argparse.Namespace, home: Home) -> int:
    """Shows the system's state, which other programs may have changed."""
    is_on = start_at_login.is_on()
    line = tr("Tooltray starts when you log in.") if is_on else tr("Tooltray does not start when you log in.")
    return answer(args, {"on": is_on}, line)


def declare_bridge(parser: Usage) -> None:
    bridge = parser.subcommands()
    command(bridge, "show", tr("show its path and the installation of Tooltray that it starts"), show_bridge)
    command(bridge, "use", tr("let it start this installation"), use_bridge)


def show_bridge(args: argparse.Namespace, home: Home) -> int:
    """Shows the path, the installations behind it, and the entry for AI clients."""
    own = _own_home()
    installations = Installations(own)
    known, owner = installations.known(), installations.owner
    entry = bridge_entry(home)
    value = {"path": str(installations.path), "owner": owner, "installations": known, "entry": entry}
    lines = [f"{installations.path} starts {owner.words}" if owner else tr("{path} is not in use yet.", path=installations.path)]
    lines += [f"  {clean_line(_installation_line(each, owner))}" for each in known]
    if not owner:
        lines.append(tr("To let it start this installation: tooltray bridge use"))
    lines.append(tr("Paste this into the config of an AI client:\n{entry}", entry=json.dumps(entry, indent=2, ensure_ascii=False)))
    return answer(args, as_json(value), *lines)


def use_bridge(args: argparse.Namespace, home: Home) -> int:
    """Makes AI clients start this installation."""
    own, this = _own_home(), this_installation()
    own.prepare()
    installations = Installations(own)
    installations.use(this)
    value = {"path": str(installations.path), "owner": this}
    return answer(args, as_json(value), clean_line(tr("{path} starts {words}.", path=installations.path, words=this.words)))


def _installation_line(installation: Installation, owner: Installation | None) -> str:
    mark = tr("in use") if installation == owner else "installed"
    return f"{mark}: {installation.words}: {' '.join(installation.bridge)}"


def _own_home() -> Home:
    own = default_home()
    if own is None:
        raise TooltrayError(tr("No home folder found"), tr("HOME is not set and the user database does not know this user"), tr("Set HOME"))
    return own
