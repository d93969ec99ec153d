"""Runs the installation of a server's package before the server, with its output in the server's log. A caller that is cancelled meanwhile
leaves no process behind.
"""

import asyncio
from collections.abc import Mapping, Sequence

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.process_family import INSTANCE_VARIABLE, START_OPTIONS, ProcessFamily, new_mark
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.launch.program_output import killed, started
from tooltray.servers.transports.process_failure import explain
from tooltray.servers.transports.server_output import LINE_BYTES, ServerOutput

LIMIT_BYTES = 64 * 1024  # of one line; of a longer line the end is enough


async def run_first(name: str, line: Sequence[str], env: Mapping[str, str], cwd: str, output: ServerOutput) -> None:
    """
    Args:
        name: the server's name.
        output: takes the lines that the installation writes.

    Raises:
        TooltrayError: the installation cannot be run, or fails; the error gives the reason.
    """
    mark = new_mark()
    try:
        process = await started(
            asyncio.create_subprocess_exec(
                *line,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env={**env, INSTANCE_VARIABLE: mark},
                cwd=cwd,
                limit=LIMIT_BYTES,
                **START_OPTIONS,
            )
        )
    except OSError as error:
        title = Phrase("the package of '{name}' cannot be installed", name=name)
        raise CannotStart(title, Phrase("{command}: {reason}", command=line[0], reason=error.strerror or "")) from None
    family = ProcessFamily(process.pid, mark)
    try:
        assert process.stdout
        await _read(process.stdout, output)
        code = await process.wait()
    finally:
        family.kill()
        await asyncio.to_thread(family.end_stragglers)
        await killed(process)
    if code:
        found = explain(name, output.lines, output.words, code, env)
        kind = CannotStart if found.is_lasting else TooltrayError
        title = Phrase("its package was not installed: {why}", why=found.problem.title)
        raise kind(title, found.problem.message, found.problem.hint)


async def _read(stream: asyncio.StreamReader, output: ServerOutput) -> None:
    while True:
        try:
            line = await stream.readuntil()
        except asyncio.IncompleteReadError as end:
            output.wrote(end.partial)
            return
        except asyncio.LimitOverrunError:  # a line without end
            line = await stream.read(LIMIT_BYTES)
        output.wrote(line[-LINE_BYTES:])
