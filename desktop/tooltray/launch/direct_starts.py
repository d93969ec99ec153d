"""Starts a server's own program in the place of npx or uvx, where its package is unpacked already and they would run exactly that.

Above it: ServerManager. Below it: npx and uvx, one per launcher, which know when that is so.

A launcher stays beside the server for as long as that runs, asks the network before each start, and passes on nothing. Without it a start
is quicker, works offline, and needs less memory. It is left out only where nothing could come out differently; in doubt it stays. A server
that ends without a word is started with its launcher the next time, which tells whose fault it was.
"""

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from tooltray.launch.command_lookup import program_name
from tooltray.launch.npx import npx_program
from tooltray.launch.program_launch import DirectProgram, Launch
from tooltray.launch.uvx import uvx_program

FINDERS: Mapping[str, Callable[[Launch], DirectProgram | None]] = {"npx": npx_program, "uvx": uvx_program}


class _Key(msgspec.Struct, frozen=True):
    command: str
    args: tuple[str, ...]
    cwd: str


class DirectStarts:
    """Remembers which servers did not run without their launcher. `shorten` looks at the file system and may be called in any thread."""

    def __init__(self) -> None:
        self._failed: set[_Key] = set()

    def shorten(self, launch: Launch) -> Launch:
        """The launch without its launcher where that is safe, else as it is."""
        found = _find(launch)
        if found is None:
            return launch
        key = _Key(launch.command, tuple(launch.args), launch.cwd)
        if key in self._failed:
            return replace(launch, on_silent_end=lambda: self._failed.discard(key))  # then it was not for want of the launcher
        return replace(
            launch,
            command=found.program,
            args=found.args,
            env={**launch.env, **found.env},
            saved_processes=found.saved_processes,
            on_silent_end=lambda: self._failed.add(key),
        )


def _find(launch: Launch) -> DirectProgram | None:
    finder = FINDERS.get(program_name(launch.command))
    try:
        return finder(launch) if finder else None
    except (OSError, ValueError):  # what cannot be read is not certain
        return None
