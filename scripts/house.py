"""Prints how the house stands: `python scripts/house.py [ROOT]`, each figure beside what was measured at a5d4206 and what is wanted.

The sources and tests under ROOT are parsed, not imported; only the way of a call is measured on a running hub, where the packages that it
needs are installed. `make check` does not run it.
"""

import ast
import asyncio
import json
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SMALL_FILE_LINES = 40
MANY_PARAMETERS, FAR_TOO_MANY = 7, 10
WINDOW = "ui"
CARRIERS = ("cli", "copilot", "rest", "ui")  # rooms that carry verbs and have none of their own
NEWS = re.compile(r"(listen|follow)(_|$)|keep_while$")
NAMED = re.compile(r"(?:def |\.|\")(\w+)\b")
SUBJECTS = {"approvals": "approv|grant", "feedback": "feedback|report", "trust": "trust"}
ANSWERED_IN = "protocol/in_flight.py"  # where whoever asked a server waits
ANSWER_S = 20.0  # for a whole hub to start on a busy machine
WAITING_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    answers = {"initialize": info, "tools/list": {"tools": [{"name": "wait", "inputSchema": {"type": "object"}}]}}
    if "id" in asked and asked["method"] != "tools/call":
        known = answers.get(asked["method"])
        outcome = {"result": known} if known else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **outcome}), flush=True)
"""


@dataclass
class Module:
    """One source file, parsed."""

    path: Path
    text: str
    tree: ast.Module = field(repr=False)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def read(folder: Path) -> list[Module]:
    files = sorted(path for path in folder.rglob("*.py") if not {"node_modules", "__pycache__"} & set(path.parts))
    return [Module(path.relative_to(folder), text := path.read_text(), ast.parse(text)) for path in files]


# the figures, a line each


def spread(values: Sequence[int]) -> str:
    """Median, 90th percentile and maximum."""
    ordered = sorted(values) or [0]
    return f"{statistics.median(ordered):.0f}, {ordered[int(len(ordered) * 0.9)]}, {ordered[-1]}"


def function_lines(modules: Iterable[Module]) -> list[int]:
    """From the line of its name to its end."""
    return [(function.end_lineno or 0) - function.lineno + 1 for module in modules for function in module.functions()]


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many there are besides self and cls."""
    taken = function.args
    named = [each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
    return len([name for name in named if name not in ("self", "cls")]) + bool(taken.vararg) + bool(taken.kwarg)


def any_count(modules: Iterable[Module]) -> int:
    """Uses of `Any`, imports not among them."""
    return sum(isinstance(node, ast.Name) and node.id == "Any" for module in modules for node in ast.walk(module.tree))


def repeated_names(modules: Iterable[Module]) -> list[str]:
    """Names that several modules have; a room's api.py is named for its place."""
    counts = Counter(module.path.stem for module in modules)
    return sorted(name for name, count in counts.items() if count > 1 and not name.startswith("__") and name != "api")


def verbs(modules: Sequence[Module]) -> list[str]:
    """The public async methods of the API: of classes in modules called api or *_api, where no room is a carrier."""
    found: set[str] = set()
    for module in modules:
        if re.fullmatch(r"(.*_)?api", module.path.stem) and not set(CARRIERS) & set(module.path.parts):
            classes = (node for node in module.tree.body if isinstance(node, ast.ClassDef))
            found |= {each.name for made in classes for each in made.body if isinstance(each, ast.AsyncFunctionDef)}
    return sorted(name for name in found if not name.startswith("_"))


def files_of_verbs(modules: Sequence[Module]) -> list[int]:
    """In how many source files each verb is defined, called or named."""
    named = Counter(name for module in modules for name in set(NAMED.findall(module.text)))
    return [named[verb] for verb in verbs(modules)]


def rooms(modules: Iterable[Module]) -> Counter[str]:
    """Counts the lines of each package, and of each folder directly in one."""
    sizes: Counter[str] = Counter()
    for module in modules:
        folders = module.path.parts[1:-1]
        sizes["/".join(folders[:2]) or module.path.parts[0]] += module.lines
    return sizes


def top(modules: Iterable[Module]) -> tuple[int, int]:
    """Counts the packages in the main package, and the modules beside them but `__init__`."""
    below = [module.path.parts[1:] for module in modules if not module.path.parts[0].startswith("tooltray_")]
    packages = {parts[0] for parts in below if len(parts) > 1}
    return len(packages), sum(len(parts) == 1 and parts[0] != "__init__.py" for parts in below)


def folders_of(subject: str, modules: Iterable[Module]) -> int:
    """How many folders have modules about a subject: named for it, or in a folder that is."""
    return len({module.path.parent for module in modules if re.search(subject, str(module.path))})


def news_routes(modules: Iterable[Module]) -> list[str]:
    """Methods that take a callback for news, beside the bus."""
    found = ((module, function) for module in modules for function in module.functions() if NEWS.match(function.name))
    return [f"{module.path}:{function.lineno}" for module, function in found if "Callable" in ast.dump(function.args)]


def tests_in(modules: Iterable[Module]) -> tuple[int, int]:
    """Lines and test functions."""
    found = list(modules)
    return sum(module.lines for module in found), sum(each.name.startswith("test_") for module in found for each in module.functions())


# the way of a call


def way_in(tasks: Iterable[object], package: str) -> list[str]:
    """The files of the nested coroutines in which a session awaits a server's answer, outermost first; empty while none does."""
    ways = ([*_nested(task, package)] for task in tasks)
    return max((way for way in ways if any("carriers/mcp/" in each for each in way) and way[-1] == ANSWERED_IN), key=len, default=[])


def _nested(coroutine: object, package: str) -> Iterator[str]:
    while (code := getattr(coroutine, "cr_code", None)) is not None:
        if package in code.co_filename:
            yield code.co_filename.rpartition(package)[2]
        coroutine = getattr(coroutine, "cr_await", None)


async def measure_call(package: str) -> list[str]:
    """Starts a hub in this process, and a server that never answers; returns the files of the coroutines that await it."""
    from tooltray.app.engine import Engine
    from tooltray.foundation.home.home import Home

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        home = Home(Path(folder, "h"))
        home.prepare()
        entry = {"command": sys.executable, "args": ["-I", "-c", WAITING_SERVER], "autoApprove": ["all"]}
        settings = {"version": 1, "mcpServers": {"s": entry}, "defaultServers": ["s"], "secrets": {"backend": "memory"}}
        home.settings.write_text(json.dumps(settings))
        engine = Engine(home)
        try:
            await engine.start()
            return await _call(home.socket, package)
        finally:
            engine.request_stop("measured")
            await engine.close()


async def _call(socket: Path, package: str) -> list[str]:
    reader, writer = await asyncio.open_unix_connection(socket)
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "house", "version": "1"}}
    writer.write(b'{"tooltray":1,"role":"client","session":"","server":null,"profile":null,"cwd":"/"}\n')
    for id, (method, params) in enumerate((("initialize", client), ("tools/list", {}), ("tools/call", {"name": "wait", "arguments": {}}))):
        writer.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n")
        while id < 2 and json.loads(await reader.readline()).get("id") != id:
            pass
    found: list[str] = []
    async with asyncio.timeout(ANSWER_S):
        while not found:
            await asyncio.sleep(0.05)
            found = way_in((task.get_coro() for task in asyncio.all_tasks()), package)
    writer.close()
    return found


def way_of_a_call(root: Path) -> tuple[str, str]:
    """Files and frames of a `tools/call` in this tree."""
    sys.path.insert(0, str(root / "desktop"))
    try:
        found = asyncio.run(measure_call("/tooltray/"))
    except ImportError as error:
        return f"not measured: {error}", ""
    return f"{len(dict.fromkeys(found))}, {len(found)}", " > ".join(dict.fromkeys(found))


# the table


def figures(root: Path) -> Iterator[tuple[str, str, str, str]]:
    """(what, now, at a5d4206, wanted)."""
    source, tests = read(root / "desktop"), read(root / "tests")
    counts = [parameters(function) for module in source for function in module.functions()]
    named, (room, room_lines) = files_of_verbs(source), rooms(source).most_common(1)[0]
    test_lines, test_functions = tests_in(tests)
    yield "packages, loose modules at the top", ", ".join(map(str, top(source))), "12, 12", "14, 2"
    yield "modules, lines", f"{len(source)}, {sum(module.lines for module in source):,}", "620, 70,099", "620, 122,000"
    outside = [module for module in source if WINDOW not in module.path.parts]
    yield "  outside the window", f"{len(outside)}, {sum(module.lines for module in outside):,}", "", "420, 90,000"
    yield "lines a file: median, p90, max", spread([module.lines for module in source]), "90, 232, 498", "160 to 200"
    small = [module for module in source if module.lines < SMALL_FILE_LINES]
    own = sum(module.path.name != "__init__.py" for module in small)
    yield f"files under {SMALL_FILE_LINES} lines, without __init__.py", f"{len(small)}, {own}", "108", "< 10"
    yield "lines a function: median, p90, max", spread(function_lines(source)), "5, 15, 98", "as then"
    yield f"functions with more than {MANY_PARAMETERS} parameters", str(sum(each > MANY_PARAMETERS for each in counts)), "38", "< 10"
    yield f"  with more than {FAR_TOO_MANY}", str(sum(each > FAR_TOO_MANY for each in counts)), "", "composition root"
    yield "uses of Any", str(any_count(source)), "999", "< 300"
    yield "names of modules used twice or more", str(len(repeated_names(source))), "49", "< 10"
    yield (
        "source files that name one verb: median",
        f"{statistics.median(named or [0]):.0f} (of {len(named)} verbs)",
        "7 (of 118)",
        "2, and views",
    )
    for subject, pattern in SUBJECTS.items():
        yield f"folders that hold {subject}", str(folders_of(pattern, source)), {"approvals": "12", "feedback": "10"}.get(subject, "9"), "3"
    yield "largest room: lines", f"{room} {room_lines:,}", "presenter 17,000", "5,000"
    yield "routes of news beside the bus", str(len(news_routes(source))), "11", "0"
    yield "tests: lines, functions", f"{test_lines:,}, {test_functions:,}", "91,600, 5,465", "120,000"


def main(root: Path) -> None:
    rows = list(figures(root))
    call, way = way_of_a_call(root)
    rows.insert(-1, ("tools/call: files, nested coroutine frames", call, "12, 12", "8, 6"))
    for what, now, before, wanted in [("", "now", "a5d4206", "wanted"), *rows]:
        sys.stdout.write(f"{what:<44}{now:<28}{before:<20}{wanted}\n")
    if way:
        sys.stdout.write(f"\ntools/call: {way}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").absolute())
