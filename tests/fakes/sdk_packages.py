"""Packages with servers of the `mcp` SDK, as an installer leaves them in a folder: the modules, and what describes them."""

import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

GROUP = "tooltray.servers"
_numbers = itertools.count(1)

TOOLS = """
import asyncio, sys, time, logging, warnings, threading
from mcp.server import MCPServer, Server

def make(args=()):
    server = MCPServer("fake")

    @server.tool()
    async def say(text: str) -> str:
        return text

    @server.tool()
    async def arguments() -> str:
        return " ".join(args)

    @server.tool()
    def where() -> str:
        return threading.current_thread().name

    @server.tool()
    async def noise() -> str:
        print("printed")
        print("on stderr", file=sys.stderr)
        sys.stdout.buffer.write(b"as bytes\\n")
        logging.getLogger("of.server").error("logged")
        await asyncio.to_thread(print, "in a thread")
        asyncio.get_running_loop().call_exception_handler({"message": "of its loop"})
        asyncio.get_running_loop().call_exception_handler({"message": "lost", "exception": ValueError("no")})
        return "done"

    @server.tool()
    async def end(how: str) -> str:
        if how == "exit":
            sys.exit(3)
        if how == "stop":
            asyncio.get_running_loop().stop()
        if how == "cancel":
            for task in asyncio.all_tasks():
                task.cancel()
        await asyncio.sleep(3600)
        return "never"

    @server.tool()
    async def block() -> str:
        GATE.wait()
        return "at last"

    @server.tool()
    async def loop_id() -> str:
        return str(id(asyncio.get_running_loop()))

    return server

GATE = threading.Event()
"""


def install(
    folder: Path, name: str, code: str = TOOLS, *, points: Mapping[str, str] | None = None, module: str = "", summary: str = ""
) -> str:
    """Puts a package into a folder; returns the name of its module, which no other one has.

    Args:
        points: what it offers: names, and what in the module each is.
        module: its name, for a second package with the same module.
    """
    module = module or f"sdk_package_{next(_numbers)}"
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\nSummary: {summary}\n")
    lines = "\n".join(f"{point} = {module}:{what}" for point, what in (points or {name: "make"}).items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n")
    return module


@contextmanager
def importable() -> Iterator[None]:
    """What is imported and put on the path of modules inside is gone behind it."""
    path = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in [name for name in sys.modules if name.startswith("sdk_package_")]:
            del sys.modules[name]
