"""A model on 127.0.0.1 that answers as its script says: it calls tools, one after the other, and then says what they gave."""

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.ai_clients.model_protocols import MODEL, PROTOCOLS, Answer, Json, Protocol


class ScriptedModel:
    """Listens while it is entered.

    Attributes:
        offered: names of the tools of every request since `begin`, with the name of their group before them.
        results: what calls gave, as JSON texts.
        heard: all requests, as JSON texts.
    """

    def __init__(self) -> None:
        self.begin(())
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="scripted model")

    @property
    def url(self) -> str:
        """Without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ScriptedModel":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def begin(self, script: Sequence[tuple[str, Json]]) -> None:
        """Forgets what was heard, and has a new script.

        Args:
            script: of each call the end of the tool's name, and its arguments.
        """
        self.script = script
        self.offered: set[str] = set()
        self.results: list[str] = []
        self.heard: list[str] = []

    def answer(self, protocol: Protocol, request: Json) -> Answer:
        self.heard.append(json.dumps(request))
        tools = list(protocol.tools(request))
        self.offered |= {f"{each.space}/{each.name}" if each.space else each.name for each in tools}
        results = [json.dumps(each) for each in protocol.results(request)]
        self.results += [each for each in results if each not in self.results]
        for end, arguments in self.script[len(results) : len(results) + 1]:
            for tool in tools:
                if tool.name.endswith(end):
                    return Answer(tool, arguments=arguments, number=len(results) + 1)
        return Answer(text=f"It said {results}" if results else "Nothing to do")


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a client may keep its connection

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        models = [{"id": MODEL, "object": "model", "created": 1, "owned_by": "tests"}]
        self._send("application/json", json.dumps({"object": "list", "data": models, "models": []}).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        protocol = next((each for end, each in PROTOCOLS.items() if path.endswith(end)), None)
        if protocol is None:
            self._send("application/json", b'{"totalTokens": 1, "input_tokens": 1}')
            return
        request = json.loads(body)
        answer = self.server.model.answer(protocol, request)
        if request.get("stream") or path.endswith(":streamGenerateContent"):
            events = protocol.stream(answer)
            self._send("text/event-stream", b"".join(_event(kind, content) for kind, content in events))
        else:
            self._send("application/json", json.dumps(protocol.whole(answer)).encode())

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _event(kind: str, content: Json | str) -> bytes:
    name = f"event: {kind}\n" if kind else ""
    return f"{name}data: {content if isinstance(content, str) else json.dumps(content)}\n\n".encode()
