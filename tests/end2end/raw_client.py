"""An AI client on a bridge, in plain JSON, with calls under way side by side.

A reply is kept until it is asked for, so that none is lost while a test waits for news or for another reply.
"""

from collections.abc import Callable
from typing import Any

from tests.end2end.processes import REPLY_S, Program


class RawClient:
    """Its handshake is done.

    Args:
        bridge: a bridge that has just been started.
        patience_s: for one message.
    """

    def __init__(self, bridge: Program, *, patience_s: float = REPLY_S) -> None:
        self._bridge = bridge
        self._patience_s = patience_s
        self._replies: dict[str, Any] = {}
        self._count = 0
        bridge.initialize()

    def begin(self, name: str, **arguments: Any) -> str:
        """Calls a tool, without waiting; returns the request's id."""
        return self._ask("tools/call", {"name": name, "arguments": arguments})

    def reply(self, id: str) -> Any:
        """The whole reply; may be asked for once."""
        while id not in self._replies:
            self._hear()
        return self._replies.pop(id)

    def text(self, id: str) -> str:
        """The text of a call that was begun."""
        return str(self.reply(id)["result"]["content"][0]["text"])

    def call(self, name: str, **arguments: Any) -> str:
        """A tool's text."""
        return self.text(self.begin(name, **arguments))

    def names(self) -> set[str]:
        """The names of the tools."""
        return {tool["name"] for tool in self.reply(self._ask("tools/list"))["result"]["tools"]}

    def hears_of_tools(self) -> None:
        """Waits until it is told that its tools have changed."""
        while self._hear().get("method") != "notifications/tools/list_changed":
            pass

    def until_tools(self, is_so: Callable[[set[str]], bool]) -> set[str]:
        """Lists anew each time it is told of a change, until it is so."""
        while not is_so(found := self.names()):
            self.hears_of_tools()
        return found

    def end(self) -> int:
        return self._bridge.end()

    def _ask(self, method: str, params: Any = None) -> str:
        self._count += 1
        self._bridge.send_request(method, params, id=f"r{self._count}")
        return f"r{self._count}"

    def _hear(self) -> Any:
        message = self._bridge.read(self._patience_s)
        if "method" not in message:
            self._replies[message["id"]] = message
        return message
