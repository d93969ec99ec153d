"""A plain proxy: passes connections on to a port, and closes those that cannot be passed on. Usage: forward.py PORT

Prints its own port as one line, and runs until its stdin ends. A line there is the port for connections from then on, and is printed."""

import asyncio
import contextlib
import sys

to = [sys.argv[1]]


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        there, back = await asyncio.open_connection("127.0.0.1", int(to[-1]))
    except OSError:
        writer.close()
        return
    await asyncio.gather(_pump(reader, back), _pump(there, writer))


def _switch() -> None:
    for line in sys.stdin:
        to.append(line)
        print(line.strip(), flush=True)


async def main() -> None:
    server = await asyncio.start_server(_pass_on, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(_switch)


asyncio.run(main())
