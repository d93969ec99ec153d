"""The stub server over streamable HTTP, on loopback: one JSON reply to each POST, in the standard library only.

Usage: http_stub.py     prints its port; ends with its standard input. Environment as in stub_server.py.
"""

import asyncio
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from stub_server import reply_to

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
NOT_ALLOWED = b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nContent-Length: 0\r\n\r\n"


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self._transport, self._data = transport, bytearray()

    def data_received(self, data):
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self._data, 0, end)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._data) < whole:
                return
            is_post, body = self._data.startswith(b"POST"), bytes(self._data[end + 4 : whole])
            del self._data[:whole]
            reply = reply_to(body) if is_post else b""
            self._transport.write(OK % (len(reply), reply) if reply else ACCEPTED if is_post else NOT_ALLOWED)


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
