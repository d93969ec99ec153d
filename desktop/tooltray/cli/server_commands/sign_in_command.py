"""`tooltray servers sign-in`: signs in to a remote server with a browser.

The page's address is always printed, for a browser that cannot be opened from here.
"""

import argparse
import contextlib
import os
import sys
import webbrowser

from tooltray.cli.hubs import RunningHub, running_hub, started_hub
from tooltray.cli.person import is_person_there
from tooltray.cli.server_commands.servers_command import present_server, running_in_words, tools_once_started
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, print_note, problem_line
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.questions import SignInSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState

BEGIN_TIMEOUT_S = 150.0  # a slow server and several slow answers of the authorization server; the hub's own limits give a reason
FINISH_TIMEOUT_S = 690.0  # the user has ten minutes, and the tokens are fetched after that
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def sign_in(args: argparse.Namespace, home: Home) -> int:
    """Shows the page, waits for the user, and starts the server."""
    address = _pasted() if args.paste else None
    with started_hub(home) as hub:
        if address is None:
            _show(hub.ask(hub.api.sign_ins.begin_sign_in(name=args.name), timeout_s=BEGIN_TIMEOUT_S), args)
        _finish(hub, home, args.name, address)
        server, tools = _started(hub, args.name)
        notices = hub.ask(hub.api.hub.get_snapshot()).notices
    runs = tr("; it {tools}", tools=running_in_words(tools)) if server.state is ServerState.RUNNING else ""
    text = tr("Signed in to {name}{runs}.", name=args.name, runs=runs)
    answer(args, as_json(server) | ({} if tools is None else {"tool_count": tools}), text)
    for notice in notices:
        if tr("the sign-in to '{name}'", name=args.name) in notice.title:
            print_note(problem_line(notice))
    return 0


def _pasted() -> str:
    """Reads the address, which is not an argument because it has a code in it: other programs and the shell's history must not see it."""
    if is_person_there():
        print(tr("The address at which the browser ended: "), end="", file=sys.stderr, flush=True)
    address = sys.stdin.readline().strip() if sys.stdin is not None else ""
    if not address:
        raise TooltrayError(
            tr("No address"), tr("Standard input is empty"), tr("Paste the whole address from the browser, or send it through a pipe")
        )
    return address


def _show(page: SignInSnapshot, args: argparse.Namespace) -> None:
    """Shows the page; with `--json` on standard error, as standard output is only for JSON."""
    out = sys.stderr if args.json else sys.stdout
    is_opened = not args.no_browser and _open(page.url)
    print(tr("Sign in with the browser, which opens now. Its address:") if is_opened else tr("Open this address in a browser:"), file=out)
    print(clean_line(page.url), file=out, flush=True)
    if not is_opened:
        print_note(
            tr("A browser on another machine cannot come back here. Then run: tooltray servers sign-in {name} --paste", name=args.name)
        )


def _open(url: str) -> bool:
    """Opens the page; returns whether a browser opens. Text browsers in the terminal are not used, as sign-in pages need more."""
    if sys.platform not in ("win32", "darwin") and not any(os.environ.get(name) for name in _DISPLAYS):
        return False
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False


def _finish(hub: RunningHub, home: Home, name: str, address: str | None) -> None:
    """Waits for the sign-in; Ctrl-C cancels it."""
    try:
        hub.ask(hub.api.sign_ins.finish_sign_in(name=name, callback_url=address), timeout_s=FINISH_TIMEOUT_S)
    except KeyboardInterrupt:
        with contextlib.suppress(TooltrayError):
            if other := running_hub(home):
                with other:
                    other.ask(other.api.sign_ins.cancel_sign_in(name=name))
        raise


def _started(hub: RunningHub, name: str) -> tuple[ServerSnapshot, int | None]:
    """Starts the server unless it is disabled; returns its snapshot, and how many tools it has, if it has listed them."""
    server = present_server(hub, name)
    if server.is_disabled:
        return server, server.tool_count if server.is_listed else None
    tools = tools_once_started(hub, name)
    return present_server(hub, name), tools
