"""What a server does while a person at a terminal waits for its start: how far its download is, why it is tried again.

Above it: the commands that start servers. Below it: a second connection to the hub, since the first one waits for the outcome.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator

from tooltray.cli.terminal import clean_line, print_note
from tooltray.control.control_client import ControlClient
from tooltray.errors import TooltrayError, in_one_line
from tooltray.home.home import Home

_ON_ITS_WAY = ("starting", "installing", "restarting")
END_TIMEOUT_S = 2.0  # for the thread, whose connection is closed: it ends at once


@contextlib.contextmanager
def progress_shown(home: Home, server: str) -> Iterator[None]:
    """While inside, prints what a server does on its way to running; nothing where nobody watches or no hub runs."""
    connection = _connection(home) if sys.stderr.isatty() else None
    if connection is None:
        yield
        return
    thread = threading.Thread(target=_show, args=(connection, server), name="start progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        connection.end()
        thread.join(END_TIMEOUT_S)
        connection.close()


def _connection(home: Home) -> ControlClient | None:
    try:
        return ControlClient.connect(home, with_events=True)
    except TooltrayError:  # the command itself will say so
        return None


def _show(connection: ControlClient, server: str) -> None:
    shown = ""
    with contextlib.suppress(TooltrayError):
        for kind, data in connection.events():
            words = _words(data["server"]) if kind == "ServerChanged" and data["server"]["name"] == server else ""
            if words and words != shown:
                shown = words
                print_note(clean_line(f"{server}: {words}"))


def _words(server: dict[str, object]) -> str:
    problem, detail = server["problem"], str(server["detail"] or "")
    if server["state"] not in _ON_ITS_WAY or not detail:
        return ""
    return in_one_line(str(problem["title"]) if isinstance(problem, dict) else "", detail)
