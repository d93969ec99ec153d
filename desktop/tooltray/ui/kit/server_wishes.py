"""What the user can request of servers, from wherever they are shown: card, table, details or tray menu."""

from collections.abc import Callable, Sequence

import msgspec

from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.kit.destinations import Destination


def _nothing(*_: object) -> None:
    """Does nothing: the window that would is not there yet."""


OfServer = Callable[[str], object]
"""A request of one server, by its name."""


class ServerWishes(msgspec.Struct):
    """The requests, each a function that is set by the part of the window that carries it out."""

    start: OfServer = _nothing
    stop: OfServer = _nothing
    restart: OfServer = _nothing
    start_anyway: OfServer = _nothing  # without a project
    choose_folder: OfServer = _nothing  # of a project, for which it starts
    reset_projects: Callable[[], object] = _nothing  # of every server that waits for one
    set_default: Callable[[str, bool], object] = _nothing  # whether it starts with the hub
    remove: OfServer = _nothing
    copy_entry: OfServer = _nothing
    duplicate: OfServer = _nothing
    sign_in: OfServer = _nothing  # also to show its page again
    copy_sign_in_address: OfServer = _nothing
    cancel_sign_in: OfServer = _nothing
    sign_out: OfServer = _nothing
    list_tools: OfServer = _nothing  # of all servers with ""
    switch_tool: Callable[[str, str, bool], object] = _nothing  # server, the tool's original name, on or off
    open_tool: Callable[[ToolSnapshot], object] = _nothing
    open_log: OfServer = _nothing
    open_why: OfServer = _nothing
    open_options: OfServer = _nothing
    open_secret: Callable[[str, str], object] = _nothing  # server, and the name of the secret that it lacks
    open_links: OfServer = _nothing  # that add it to an AI client
    open_trust: OfServer = _nothing  # what of it waits for approval
    refuse: OfServer = _nothing  # what a program has proposed
    open_file: Callable[[str], object] = _nothing  # with servers in it, by its path
    open_file_place: Callable[[str], object] = _nothing  # the folder of such a file
    do_with_many: Callable[[str, Sequence[str]], object] = _nothing  # what (see many_servers.py), and with which servers
    make_compact: Callable[[Sequence[str]], object] = _nothing  # the tool listings of these servers
    read_costs: Callable[[], object] = _nothing  # of all tools
    go: Callable[[Destination], object] = _nothing  # to where a server is shown
