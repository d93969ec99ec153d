"""The script that prints how the house stands, on a tree of a few files."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "house.py"
spec = importlib.util.spec_from_file_location("house", SCRIPT)
assert spec
assert spec.loader
house = importlib.util.module_from_spec(spec)
sys.modules["house"] = house
spec.loader.exec_module(house)

FILES = {
    "desktop/app/servers/api.py": (
        '\nclass ServersApi:\n    """How to fix it."""\n\n    async def restart(self, name: str) -> '
        'None:\n        """Does it."""\n\n    async def _inside(self) -> None: ...\n\n    def wait(self) -> '
        "None: ...\n"
    ),
    "desktop/app/servers/trust.py": """
from typing import Any


def many(a, b, c, d, /, e, f, *args, g: Any, **kwargs: "Any") -> Any:
    return a


class News:
    def listen_moved(self, on_moved: Callable[[str], None]) -> None: ...
    def follow(self, path: str) -> None: ...
    def keep_while(self, *, is_wanted: "Callable[[str], bool]") -> None: ...
""",
    "desktop/app/ui/trust.py": "async def restarted(hub):\n    await hub.servers.restart('a')\n",
    "desktop/app/ui/settings_api.py": "class Commands:\n    async def no_verb(self): ...\n",
    "tests/test_servers.py": "def test_one(): ...\n\n\ndef helper(): ...\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_each_figure_stands_beside_what_it_was_and_what_is_wanted(tree: Path) -> None:
    shown = {what.strip(): (now, wanted) for what, now, _, wanted in house.figures(tree)}
    assert shown["modules, lines"] == ("4, 26", "620, 122,000")
    assert shown["outside the window"][0] == "2, 22"
    assert shown["packages, loose modules at the top"][0] == "2, 0"
    assert shown["files under 40 lines, without __init__.py"][0] == "4, 4"
    assert shown["functions with more than 7 parameters"][0] == "1"
    assert shown["with more than 10"][0] == "0"
    assert shown["uses of Any"][0] == "2"  # an import and a text are none
    assert shown["names of modules used twice or more"][0] == "1"
    assert shown["source files that name one verb: median"][0] == "2 (of 1 verbs)"
    assert shown["folders that hold trust"][0] == "2"
    assert shown["largest room: lines"][0] == "servers 22"
    assert shown["tests: lines, functions"][0] == "4, 1"


def test_news_beside_the_bus_are_methods_that_take_a_callback(tree: Path) -> None:
    assert house.news_routes(house.read(tree / "desktop")) == ["app/servers/trust.py:10", "app/servers/trust.py:12"]


def test_the_lines_of_a_function_begin_with_its_name(tree: Path) -> None:
    assert sorted(house.function_lines(house.read(tree / "desktop"))) == [1, 1, 1, 1, 1, 1, 2, 2, 2]
    assert house.spread([1, 5, 2]) == "2, 5, 5"
    assert house.spread([]) == "0, 0, 0"


def test_the_way_of_a_call_is_the_chain_of_coroutines_that_waits_in_a_session() -> None:
    class Code:
        def __init__(self, name: str) -> None:
            self.co_filename = name

    class Waiting:
        def __init__(self, name: str, awaited: object = None) -> None:
            self.cr_code, self.cr_await = Code(name), awaited

    answered = Waiting("/x/tooltray/protocol/in_flight.py", object())
    call = Waiting("/x/tooltray/carriers/mcp/session.py", Waiting("/usr/lib/asyncio/tasks.py", answered))
    start = Waiting("/x/tooltray/servers/upstream/instance.py", Waiting("/x/tooltray/servers/upstream/mcp_client.py", answered))
    assert house.way_in([start, call, None], "/tooltray/") == ["carriers/mcp/session.py", "protocol/in_flight.py"]
    assert house.way_in([start, None], "/tooltray/") == []


def test_without_the_packages_of_a_hub_the_call_is_not_measured(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def missing(package: str) -> list[str]:
        raise ImportError("no msgspec")

    monkeypatch.setattr(house, "measure_call", missing)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert house.way_of_a_call(tree) == ("not measured: no msgspec", "")
