"""`tooltray autostart on|off|status`: whether Tooltray starts when the user logs in. Needs no hub."""

import argparse

from tooltray.cli.parsers import Usage, command
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs import start_at_login


def declare(parser: Usage) -> None:
    autostart = parser.subcommands()
    command(autostart, "on", tr("start when you log in"), on)
    command(autostart, "off", tr("do not start when you log in"), off)
    command(autostart, "status", tr("say whether it starts when you log in"), status)


def on(args: argparse.Namespace, home: Home) -> int:
    start_at_login.switch(on=True)
    return status(args, home)


def off(args: argparse.Namespace, home: Home) -> int:
    start_at_login.switch(on=False)
    return status(args, home)


def status(args: argparse.Namespace, home: Home) -> int:
    """Shows the system's state, which other programs may have changed."""
    is_on = start_at_login.is_on()
    line = tr("Tooltray starts when you log in.") if is_on else tr("Tooltray does not start when you log in.")
    return answer(args, {"on": is_on}, line)
