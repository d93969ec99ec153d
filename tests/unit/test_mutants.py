"""The script that puts small faults into modules and looks whether their tests notice."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "mutants.py"
spec = importlib.util.spec_from_file_location("mutants", SCRIPT)
assert spec
assert spec.loader
mutants = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutants)

pytestmark = pytest.mark.timeout(180)  # each runs pytest several times

MODULE = Path("desktop/tooltray/room/thing.py")
ROOM, OWN = (Path("tests/unit/room"),), (Path("tests/unit/room/test_thing.py"),)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A module of three functions."""
    (tmp_path / MODULE).parent.mkdir(parents=True)
    (tmp_path / ROOM[0]).mkdir(parents=True)
    (tmp_path / MODULE).write_text("def small(n):\n    return n < 7\n\n\ndef odd(n):\n    return n % 2\n\n\ndef even(n):\n    return n\n")
    return tmp_path


def written(tmp_path: Path, source: str) -> dict[str, str]:
    """What becomes of a module by each fault, by what it is."""
    (tmp_path / "x.py").write_text(source)
    return {fault.what: fault.source(tmp_path) for fault in mutants.faults(tmp_path, Path("x.py"))}


@pytest.mark.parametrize(
    ("source", "what", "faulty"),
    [
        ("a < b", "comparison turned", "a >= b"),
        ("a in b", "comparison turned", "a not in b"),
        ("a and b", "and and or swapped", "a or b"),
        ("if a:\n    b = c", "condition dropped", "if True:\n    b = c"),
        ("a if b else c", "condition negated", "a if not b else c"),
        ("[a for a in b if a.c]", "condition dropped", "[a for a in b]"),
        ("a.b(c)", "call left out", "pass"),
        ("async def a():\n    await b()", "call left out", "async def a():\n    pass"),
        ("def a():\n    return b", "result left out", "def a():\n    return None"),
        ("a = 7", "constant changed", "a = 8"),
        ("a = True", "constant changed", "a = False"),
    ],
)
def test_a_fault_changes_one_thing(tmp_path: Path, source: str, what: str, faulty: str) -> None:
    assert written(tmp_path, source)[what] == faulty


@pytest.mark.parametrize(
    "source",
    [
        "if a > b:\n    logger.info('x')",
        "class A(B, frozen=True): ...",
        "Days = Annotated[int, Between(above=0)]",
        "def a(b: Literal[1]) -> Literal[2]: ...",
        "if TYPE_CHECKING:\n    import a",
        "MOST_BYTES = 2**16",
        "FIRST_S, LAST_S = 60, 20",
        "if sys.platform == 'win32':\n    a(1)",
        "'''Text.'''",
        "def a():\n    return None",
    ],
)
def test_what_says_nothing_of_behaviour_is_left_alone(tmp_path: Path, source: str) -> None:
    assert written(tmp_path, source) == {}


def test_a_result_that_is_false_is_not_left_out_since_nothing_is_as_false(tmp_path: Path) -> None:
    assert list(written(tmp_path, "def a():\n    return False")) == ["constant changed"]
    assert "result left out" in written(tmp_path, "def a():\n    return 0")


def test_the_tests_of_a_module_are_its_own_and_those_of_its_room(tree: Path) -> None:
    assert mutants.tests_of(tree, MODULE) == [ROOM]
    (tree / OWN[0]).touch()
    for name, first_line in (("test_a.py", '"""thing.py, and more."""'), ("test_b.py", '"""any/thing.py, something.py."""')):
        (tree / ROOM[0] / name).write_text(first_line + "\n")
    assert mutants.tests_of(tree, MODULE) == [(ROOM[0] / "test_a.py", *OWN), ROOM]


def test_the_same_seed_gives_the_same_faults(tree: Path) -> None:
    (tree / "desktop/tooltray/room/thing_windows.py").write_text("def more(n):\n    return n")
    first = mutants.chosen(tree, ["room"], 3, 5)
    assert [fault[:4] for fault in mutants.chosen(tree, ["room"], 3, 5)] == [fault[:4] for fault in first]
    assert len(mutants.chosen(tree, ["."], 100, 5)) == 6


def passing(root: Path, tests: tuple[Path, ...]) -> None:
    """In the place of pytest: the module's own tests know its first function, and those of the room both."""
    source = (root / MODULE).read_text()
    knows = ["n < 7"] if tests == OWN else ["n < 7", "n % 2"]
    sys.exit(not all(text in source for text in knows))


def test_a_fault_is_noticed_where_a_test_fails_and_the_module_is_whole_afterwards(tree: Path) -> None:
    (tree / OWN[0]).touch()
    before = (tree / MODULE).read_text()
    copy = mutants.Copy(tree, passing)
    noticed = {fault.line: copy.noticed_by(fault) for fault in mutants.chosen(tree, ["room"], 100, 1)}
    assert noticed == {2: OWN, 6: ROOM, 10: None}
    assert (tree / MODULE).read_text() == before


def test_what_a_modules_own_tests_do_not_notice_is_shown(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / OWN[0]).touch()
    mutants.look_at(
        [fault for fault in mutants.chosen(tree, ["room"], 100, 1) if fault.what == "result left out"], mutants.Copy(tree, passing)
    )
    assert [line.split("  ")[0].split()[0] for line in capsys.readouterr().out.splitlines()] == ["room", "NOBODY", "1"]


def test_tests_that_fail_without_a_fault_notice_nothing(tree: Path) -> None:
    (tree / MODULE).write_text("def small(n):\n    return n > 7\n")
    with pytest.raises(RuntimeError, match="fails without a fault"):
        mutants.Copy(tree, passing).noticed_by(mutants.chosen(tree, ["room"], 1, 1)[0])


def test_a_copy_has_what_tests_need_and_nothing_installed(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "copy"
    for name in ("desktop/a.py", "tests/npm/node_modules/b.js", "tests/unit/test_a.py", "tests/__pycache__/c.pyc", "pyproject.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    folder.mkdir()
    mutants.copy_of(root, folder)
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.*")} == {"desktop/a.py", "tests/unit/test_a.py", "pyproject.toml"}
