import subprocess
from pathlib import Path

import msgspec
import pytest
from scripts.figures import BEGIN, END, PAGES, STORED, Row, Run, about, faults, main, shown, table, take_over, with_table
from tests.bench import run as bench

EMPTY_PAGE = f"before\n{BEGIN}{END}after\n"
CALL = Row("call", "one call, p50 / p99", "ms", (0.2243, 0.54), (0.3, 0.5), (0.019, 0.034), (2.49, 5.55))
MEMORY = Row("hub_memory", "memory", "MB", (41.7,), (42,), note="a note")
RATE = Row("rate_of_base", "rate", "×", (1.6,), (1.5,), is_least=True)
SIZE = Row("deb", "`.deb`", "MB", (), (45,), note="not built")
RUN = Run("2 × machine", 2, "3.11.7", "4.1", "2026-01-02", "0123456789abcdef", True, 5, 0.3, 480.0, (CALL, MEMORY, RATE, SIZE))


def commit(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", "-C", str(root), *identity, "commit", "--quiet", "--allow-empty", "-m", "words", *words], check=True)
    return subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a commit and pages without tables."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    for name in PAGES:
        page = tmp_path / name
        page.parent.mkdir(exist_ok=True)
        page.write_text(EMPTY_PAGE)
    commit(tmp_path)
    return tmp_path


@pytest.fixture
def measured(root: Path) -> Path:
    """A run of the repository's commit, in a file."""
    head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    return stored(root, msgspec.structs.replace(RUN, commit=head))


def stored(root: Path, run: Run) -> Path:
    path = root / "measured.json"
    path.write_bytes(msgspec.json.encode(run))
    return path


@pytest.mark.parametrize(
    ("row", "reached"),
    [
        (Row("a", "a", "ms", (1.0, 2.0), (1.0,)), True),
        (Row("a", "a", "ms", (1.0, 2.0), (1.0, 1.9)), False),
        (Row("a", "a", "×", (1.4,), (1.5,), is_least=True), False),
        (RATE, True),
        (Row("a", "a", "ms", (1.0,)), None),
        (SIZE, None),
    ],
)
def test_a_row_knows_whether_its_aims_are_reached(row: Row, reached: bool | None) -> None:
    assert row.reached is reached
    assert msgspec.json.decode(msgspec.json.encode(row), type=Row) == row


@pytest.mark.parametrize(
    ("figures", "text"),
    [((), ""), ((0.2243, 0.3), "0.224 / 0.3 ms"), ((17410.4,), "17,410 ms"), ((48.06,), "48.1 ms"), ((1.26, 15), "1.26 / 15 ms")],
)
def test_figures_have_about_three_digits(figures: tuple[float, ...], text: str) -> None:
    assert shown(figures, "ms") == text


def test_a_table_has_figures_aims_and_notes() -> None:
    assert table(RUN).splitlines()[-6:] == [
        "| what | aim | Tooltray | reached | direct | FastMCP proxy 4.1 |",
        "|---|---|---|---|---|---|",
        "| one call, p50 / p99 | ≤ 0.3 / 0.5 ms | 0.224 / 0.54 ms | no | 0.019 / 0.034 ms | 2.49 / 5.55 ms |",
        "| memory | ≤ 42 MB | 41.7 MB (a note) | yes |  |  |",
        "| rate | ≥ 1.5 × | 1.6 × | yes |  |  |",
        "| `.deb` | ≤ 45 MB | not built |  |  |  |",
    ]
    assert "memory" not in table(RUN, {"call"})


def test_a_table_tells_how_it_was_measured() -> None:
    assert about(RUN).splitlines() == [
        "Measured on 2026-01-02 at commit 01234567, medians of 5 rounds, in 8 minutes;",
        "2 × machine, Python 3.11.7. 2 of 3 aims are reached.",
    ]
    rough = about(msgspec.structs.replace(RUN, is_clean=False, rounds=1, load=1.1, commit=""))
    assert "at commit unknown, with changes that are not committed, a single round," in rough
    assert "(load 1.1): read the ratios." in rough


def test_a_run_is_taken_over_into_both_pages(root: Path, measured: Path) -> None:
    take_over(root, measured)
    readme, page = ((root / name).read_text() for name in ("README.md", "docs/figures.md"))
    assert (readme.partition(BEGIN)[0], readme.partition(END)[2]) == ("before\n", "after\n")
    assert ("| rate" in page, "| rate" in readme) == (True, False)
    assert list(faults(root)) == []
    take_over(root, root / STORED)
    assert list(faults(root)) == [], "made again it is the same"


def test_a_page_that_was_edited_by_hand_is_found(root: Path, measured: Path) -> None:
    take_over(root, measured)
    page = root / "README.md"
    page.write_text(page.read_text().replace("0.224", "0.124"))
    assert [fault.partition(" ")[0] for fault in faults(root)] == ["README.md"]


def test_a_run_of_another_history_is_found(root: Path, measured: Path) -> None:
    take_over(root, measured)
    commit(root)
    assert list(faults(root)) == [], "a commit after it"
    subprocess.run(["git", "-C", str(root), "checkout", "--quiet", "--orphan", "other"], check=True)
    commit(root, "-m", "another beginning")
    assert ["which this one does not come from" in fault for fault in faults(root)] == [True]


def test_without_history_nothing_is_known_of_the_commit(root: Path, measured: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    take_over(root, stored(root, msgspec.structs.replace(RUN, commit="f" * 40)))
    assert len(list(faults(root))) == 1
    (root / ".git").rename(root / "no-git")
    assert list(faults(root)) == []


@pytest.mark.parametrize("change", [{"is_clean": False}, {"commit": ""}])
def test_figures_of_no_commit_are_not_taken_over(root: Path, change: dict[str, object]) -> None:
    with pytest.raises(SystemExit, match="not those of a commit"):
        take_over(root, stored(root, msgspec.structs.replace(RUN, **change)))
    assert not (root / STORED).exists()


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(SystemExit, match="has no"):
        with_table("words", "table")


def test_the_check_prints_what_is_wrong(
    root: Path, measured: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scripts.figures.ROOT", root)
    assert main([str(measured)]) == 0
    assert main(["--check"]) == 0
    (root / "README.md").write_text(EMPTY_PAGE)
    assert main(["--check"]) == 1
    assert "README.md is not up to date" in capsys.readouterr().err
    assert (main([]), main(["--check"])) == (0, 0)


def test_rows_measured_again_replace_earlier_ones() -> None:
    again = msgspec.structs.replace(MEMORY, values=(40.0,), reached=None)
    run = bench.with_rows(RUN, [again], 12.34)
    assert [row.id for row in run.rows] == [row.id for row in RUN.rows]
    assert (run.rows[1].values, run.took_s) == ((40.0,), 492.3)


def test_rows_are_joined_with_those_of_the_same_commit_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "FIGURES", tmp_path / "figures.json")
    fresh = msgspec.structs.replace(RUN, rows=())
    assert bench.earlier_run(fresh) is fresh
    bench.FIGURES.write_bytes(msgspec.json.encode(RUN))
    assert bench.earlier_run(fresh) == RUN
    other = msgspec.structs.replace(fresh, commit="f" * 40)
    assert bench.earlier_run(other) is other
