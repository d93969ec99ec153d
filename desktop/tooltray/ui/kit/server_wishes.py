"""The user's requests about a server, from wherever it is shown: card, table, details or tray menu. Views emit; ServerVerbs,
ManyServers and the sheets of files carry them out. The strings are servers' names."""

from PySide6.QtCore import QObject, Signal


class ServerWishes(QObject):
    start_requested = Signal(str)
    stop_requested = Signal(str)
    restart_requested = Signal(str)
    log_requested = Signal(str)
    secret_requested = Signal(str, str)  # to be typed in: its name, which the server's entry has
    unlock_requested = Signal()  # of secrets that cannot be read
    duplicate_requested = Signal(str)
    rename_requested = Signal(str)
    place_requested = Signal(object)  # Destination: where the server is shown
    copy_requested = Signal(str)  # of its entry in the settings
    link_requested = Signal(str)  # a link that adds it to an AI client
    default_requested = Signal(str, bool)  # whether it is to start with the hub
    removal_requested = Signal(str)
    diagnosis_requested = Signal(str)
    sign_in_requested = Signal(str)  # also to show its page again
    sign_in_address_requested = Signal(str)  # of the page, for the clipboard
    sign_in_cancel_requested = Signal(str)
    sign_out_requested = Signal(str)
    trust_requested = Signal(str)  # a person wants to look at what waits of it for a yes
    refusal_requested = Signal(str)  # what a program has proposed of it is not wanted
    tools_requested = Signal(str)  # to be listed
    options_requested = Signal(str)  # to be looked at
    folder_requested = Signal(str)  # to choose the folder of a project, for which it is to start
    start_anyway_requested = Signal(str)  # without a project
    projects_reset_requested = Signal()  # of every server that waits for one
    costs_requested = Signal()  # of all tools
    tool_requested = Signal(object)  # ToolSnapshot: how AI clients see it
    file_requested = Signal(str)  # a file with servers in it, to be opened: its path
    file_place_requested = Signal(str)  # the folder of such a file, to be opened: the file's path
    many_requested = Signal(str, object)  # what (see many_servers.py), and list[str]: with which servers
    lazy_many_requested = Signal(object)  # list[str]: servers whose tools are to be shown only after activation
    tool_switch_requested = Signal(str, str, bool)  # server, the tool's original name, on or off
