"""What a page with a host of MCP Apps is served by: the page, the npm packages that it imports, its sandbox by another origin, and the hub.

The hub takes requests of no page of another origin; so `/mcp` here passes them on without an Origin, as a host that
is a program sends them. What the page reports is kept.
"""

import http.client
import json
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HERE = Path(__file__).parent
TYPES = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript"}
PASSED_ON = ("accept", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name")
ANSWER_S = 60.0


class Loopback(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, packages: Path, hub: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folders = {"apps": HERE, "npm": packages}
        self.hub = hub
        self.reports: queue.Queue[Any] = queue.Queue()
        self.origin = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has reported may end before it has read everything."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    server: Loopback
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        area, _, path = urlsplit(self.path).path.lstrip("/").partition("/")
        if area == "mcp":
            return self._answer(405, b"")  # no stream of news: the page lists before each call
        file = self.server.folders.get(area, HERE) / path
        if area == "ping":
            return self._answer(200, b"pong", {"Access-Control-Allow-Origin": "*"})
        return self._answer(200, file.read_bytes(), {"Content-Type": TYPES[file.suffix]}) if file.is_file() else self._answer(404, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/report":
            self.server.reports.put(json.loads(body))
            return self._answer(200, b"")
        return self._pass_on("POST", body)

    def do_DELETE(self) -> None:
        self._pass_on("DELETE", b"")

    def _pass_on(self, method: str, body: bytes) -> None:
        connection = http.client.HTTPConnection(urlsplit(self.server.hub).netloc, timeout=ANSWER_S)
        try:
            connection.request(method, "/mcp", body, {name: value for name, value in self.headers.items() if name.lower() in PASSED_ON})
            answer = connection.getresponse()
            kept = {name: value for name, value in answer.getheaders() if name.lower() in ("content-type", "mcp-session-id")}
            self._answer(answer.status, answer.read(), kept)
        finally:
            connection.close()

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def serving(packages: Path, hub: str = "") -> Iterator[Loopback]:
    with Loopback(packages, hub) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
