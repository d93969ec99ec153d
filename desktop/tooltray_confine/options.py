"""The words of the launcher's command line, parsed by hand, since argparse costs more than all else that the launcher does."""


class Wrong(Exception):
    """A command line that cannot be understood or applied. Its text is one line for the user."""


class Options:
    """The launcher's task.

    Attributes:
        read, write: paths that may be read and run, and paths that may also be changed; each with everything below it.
        network: "all", "none", or "proxy": TCP to `proxy_port` of this computer, and nothing else.
        file_bytes, processes, open_files: limits; 0: unchanged.
        abi: the version of Landlock that the hub has found, and whose limits it has shown the user; 0: without Landlock.
        keeps_group: whether no process may leave the process group by which the hub ends all of them.
        has_own_ids: whether the processes are in a process namespace that bubblewrap has made, and so cannot see others.
        command: the program, and its arguments.
    """

    def __init__(self) -> None:
        self.read: list[str] = []
        self.write: list[str] = []
        self.network = ""
        self.abi = _MISSING
        self.proxy_port = self.file_bytes = self.processes = self.open_files = 0
        self.keeps_group = self.has_own_ids = False
        self.command: list[str] = []


def parse(words: "list[str]") -> Options:
    """Parses the command line.

    Raises:
        Wrong: a word is not known, its value is missing or wrong, or there is no program.
    """
    options, ahead = Options(), iter(words)
    for word in ahead:
        if word == "--":
            options.command = list(ahead)
            break
        if word in _SWITCHES:
            setattr(options, _SWITCHES[word], True)
            continue
        value = next(ahead, "")
        if word == "--read" and value.startswith("/"):
            options.read.append(value)
        elif word == "--write" and value.startswith("/"):
            options.write.append(value)
        elif word == "--network":
            _set_network(options, value)
        elif word in _NUMBERS and value.isdecimal():
            setattr(options, _NUMBERS[word], int(value))
        else:
            raise Wrong(f"not understood: {word} {value}")
    if not options.command or not options.network or options.abi == _MISSING:
        raise Wrong("a program, --network and --abi have to be named")
    return options


_SWITCHES = {
    "--keep-group": "keeps_group",
    "--own-ids": "has_own_ids",
}
_NUMBERS = {"--file-bytes": "file_bytes", "--processes": "processes", "--open-files": "open_files", "--abi": "abi"}
_MISSING = -1
_HIGHEST_PORT = 0xFFFF


def _set_network(options: Options, value: str) -> None:
    kind, _, port = value.partition(":")
    if value in ("all", "none"):
        options.network = value
    elif kind == "proxy" and port.isdecimal() and 0 < int(port) <= _HIGHEST_PORT:
        options.network, options.proxy_port = kind, int(port)
    else:
        raise Wrong(f"not understood: --network {value}")
