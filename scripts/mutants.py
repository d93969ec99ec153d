"""Puts small random faults into a copy of the source, one at a time, and prints which of them a module's own unit tests notice.

    .venv/bin/python scripts/mutants.py [NUMBER] [--seed SEED] [--rooms ROOM ...]

A fault is a comparison turned, a condition dropped or negated, `and` in the place of `or`, a call left out, a number or truth value
changed, or a result left out. The tests of `desktop/tooltray/ROOM/NAME.py` are `tests/unit/ROOM/test_NAME.py` and those beside it that name
`NAME.py` in their first line; what these do not notice, and what has none, is left to all tests of the room. The same seed gives the same
faults while the source stays as it is. A fault that survives is a missing test, or no fault: that is for a person to judge. Calls of
`logger`, types, named ones too, the options of classes and of models, what is for one system, the numbers of limits that have a name, by
which tests know them, and `return False`, in the place of which None would do, are left alone.
"""

import argparse
import ast
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = Path("desktop", "tooltray"), Path("tests", "unit")
ROOMS = ("catalogue", "config", "consent", "gateway", "protocol", "records", "servers", "sources")
ELSEWHERE = "*_windows.py"  # run by tests/windows
COPIED = ("desktop", "tests", "scripts", "docs", "resources", "pyproject.toml", "Makefile", "README.md")
PRELOADED = (
    "aiohttp",
    "cryptography.fernet",
    "hypothesis.strategies",
    "msgspec",
    "psutil",
    "pytest",
    "pytest_asyncio",
    "watchfiles",
)
SLOWER = 5.0  # a fault may make tests so many times slower; then they count as stuck, which is noticed
START_S = 20.0
PAIRS = ((ast.Eq, ast.NotEq), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.Is, ast.IsNot), (ast.In, ast.NotIn))
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}

Change = Callable[[ast.AST], ast.AST]
Tests = tuple[Path, ...]


class Fault(NamedTuple):
    """The change of one node, found again by its place among all nodes of the module's tree."""

    path: Path
    place: int
    line: int
    what: str
    change: Change

    def source(self, root: Path) -> str:
        """The whole module with this fault."""
        tree = ast.parse((root / self.path).read_text())
        target = list(ast.walk(tree))[self.place]
        return ast.unparse(ast.fix_missing_locations(Replacing(target, self.change).visit(tree)))


class Replacing(ast.NodeTransformer):
    def __init__(self, target: ast.AST, change: Change) -> None:
        self._target, self._change = target, change

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self._change(node), node) if node is self._target else self.generic_visit(node)


def turned(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    return ast.Compare(node.left, [TURNED[type(operator)]() for operator in node.ops], node.comparators)


def swapped(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    return ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)


def with_test(value: Callable[[ast.expr], ast.expr]) -> Change:
    def change(node: ast.AST) -> ast.AST:
        node.test = value(node.test)  # type: ignore[attr-defined]
        return node

    return change


def without_filter(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.comprehension)
    return ast.comprehension(node.target, node.iter, [], node.is_async)


def changed_constant(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    return ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)  # type: ignore[operator]


def is_logging(call: ast.expr) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="logger"))):
            return True
    return False


def changes_of(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """What can be changed at this node."""
    match node:
        case ast.Compare():
            yield "comparison turned", turned
        case ast.BoolOp():
            yield "and and or swapped", swapped
        case ast.If() | ast.IfExp():
            yield "condition dropped", with_test(lambda _: ast.Constant(True))
            yield "condition negated", with_test(lambda test: ast.UnaryOp(ast.Not(), test))
        case ast.comprehension(ifs=[_, *_]):
            yield "condition dropped", without_filter
        case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)) if not is_logging(call):
            yield "call left out", lambda _: ast.Pass()
        case ast.Return(value=ast.expr() as value) if not (
            isinstance(value, ast.Constant) and (value.value is None or value.value is False)
        ):
            yield "result left out", lambda _: ast.Return(ast.Constant(None))
        case ast.Constant(value=bool() | int()):
            yield "constant changed", changed_constant


def unmeant(tree: ast.AST) -> set[int]:
    """Nodes that only speak of types, of classes or of another system, and the numbers of limits with a name, by identity."""
    roots: list[ast.AST | None] = []
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef():
                roots += [*node.keywords, *node.decorator_list]
            case ast.Assign(value=ast.Subscript(value=ast.Name(id="Annotated"))):
                roots.append(node)
            case ast.AnnAssign() | ast.arg():
                roots.append(node.annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                roots += [node.returns, *node.decorator_list]
            case ast.Assign(targets=[ast.Name() | ast.Tuple() as target], value=value) if ast.unparse(target).isupper():
                roots += [number for number in ast.walk(value) if isinstance(number, ast.Constant) and not isinstance(number.value, bool)]
            case ast.If(orelse=[]) if all(isinstance(each, ast.Expr) and is_logging(each.value) for each in node.body):
                roots.append(node)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.If(test=ast.Compare(left=ast.Attribute(attr="platform"))):
                roots.append(node)
    return {id(inner) for root in roots if root for inner in ast.walk(root)}


def faults(root: Path, path: Path) -> Iterator[Fault]:
    """All faults that can be put into a module."""
    tree = ast.parse((root / path).read_text())
    skipped = unmeant(tree)
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped:
            for what, change in changes_of(node):
                yield Fault(path, place, getattr(node, "lineno", 0) or node.iter.lineno, what, change)  # type: ignore[attr-defined]


def tests_of(root: Path, path: Path) -> list[Tests]:
    """Its own tests, if it has any, and those of its room."""
    room = TESTS / path.parent.relative_to(SOURCE)
    named = re.compile(rf"(?<![\w/]){re.escape(path.name)}")
    files = sorted(file.relative_to(root) for file in (root / room).glob("test_*.py"))
    own = [file for file in files if file.name == f"test_{path.name}" or named.search((root / file).read_text().partition("\n")[0])]
    return [tests for tests in (tuple(own), (room,)) if tests and (root / room).exists()]


class Copy:
    """A copy of the tree, in which tests run in forks of this process: what they import from others is there already."""

    def __init__(self, root: Path, run: Callable[[Path, Tests], None]) -> None:
        self.root, self._run = root, run
        self._limits: dict[Tests, float] = {}
        self._next_change = time.time() + 10.0  # Python tells by the time of a change, in whole seconds, whether what it compiled is old

    def noticed_by(self, fault: Fault) -> Tests | None:
        """The tests of which one fails; None: all pass.

        Raises:
            RuntimeError: one fails without the fault too.
        """
        return next((tests for tests in tests_of(self.root, fault.path) if self._is_noticed(fault, tests)), None)

    def _is_noticed(self, fault: Fault, tests: Tests) -> bool:
        file, limit_s = self.root / fault.path, self._limit_s(tests)
        before = file.read_text()
        try:
            self._write(file, fault.source(self.root))
            return not self._passes(tests, limit_s)
        finally:
            self._write(file, before)

    def _limit_s(self, tests: Tests) -> float:
        if tests not in self._limits:
            begun = time.monotonic()
            if not self._passes(tests, None):
                raise RuntimeError(f"{' '.join(map(str, tests))} fails without a fault")
            self._limits[tests] = START_S + SLOWER * (time.monotonic() - begun)
        return self._limits[tests]

    def _write(self, file: Path, source: str) -> None:
        file.write_text(source)
        self._next_change += 1.0
        os.utime(file, (self._next_change, self._next_change))

    def _passes(self, tests: Tests, limit_s: float | None) -> bool:
        process = multiprocessing.get_context("fork").Process(target=self._run, args=(self.root, tests))
        process.start()
        process.join(limit_s)
        if process.exitcode is None:
            os.killpg(process.pid or 0, signal.SIGKILL)
            process.join()
        return process.exitcode == 0


def run_tests(root: Path, tests: Tests) -> None:
    """In a fork: ends it with pytest's exit code."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.chdir(root)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "desktop"), str(root)])  # for programs that tests start
    import pytest

    code = pytest.main(["-x", "-p", "no:cacheprovider", "--rootdir", str(root), "-c", str(root / "pyproject.toml"), *map(str, tests)])
    os._exit(code)


def chosen(root: Path, rooms: Sequence[str], number: int, seed: int) -> list[Fault]:
    modules = {path for room in rooms for path in (root / SOURCE / room).rglob("*.py") if not path.match(ELSEWHERE)}
    paths = sorted(path.relative_to(root) for path in modules)
    found = [fault for path in paths for fault in faults(root, path)]
    return sorted(random.Random(seed).sample(found, min(number, len(found))), key=lambda fault: (fault.path, fault.line))


def copy_of(root: Path, folder: Path) -> Path:
    ignored = shutil.ignore_patterns("node_modules", "__pycache__", ".*")
    for name in COPIED:
        place = root / name
        if place.is_dir():
            shutil.copytree(place, folder / name, ignore=ignored)
        elif place.exists():
            shutil.copy(place, folder / name)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints which small faults a module's own unit tests notice.")
    parser.add_argument("number", nargs="?", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="+", default=ROOMS)
    asked = parser.parse_args()
    for name in PRELOADED:
        __import__(name)
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        look_at(chosen(ROOT, asked.rooms, asked.number, asked.seed), Copy(copy_of(ROOT, Path(folder)), run_tests))
    return 0


def look_at(todo: Sequence[Fault], copy: Copy) -> None:
    """Prints each fault that a module's own tests do not notice, and how many they do."""
    noticed = by_room = 0
    for fault in todo:
        tests = copy.noticed_by(fault)
        if tests and tests[0].suffix:
            noticed += 1
            continue
        by_room += tests is not None
        line = (copy.root / fault.path).read_text().splitlines()[fault.line - 1].strip()
        tell(f"{'room   ' if tests else 'NOBODY '} {fault.path}:{fault.line}  {fault.what}: {line}")
    rest = len(todo) - noticed - by_room
    tell(f"{noticed} of {len(todo)} noticed by a module's own tests, {by_room} by others of its room, {rest} by none")


def tell(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.exit(main())
