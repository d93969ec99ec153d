"""Writes the tables of docs/figures.md and README.md from what `make bench` has measured, and keeps that in docs/figures.json.

`python scripts/figures.py build/figures.json` takes over a run; with `--check` it only says whether both tables are those of
docs/figures.json and whether that run was of a commit that this one comes from, and fails otherwise.
"""

import shutil
import subprocess
import sys
from collections.abc import Container, Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
STORED = Path("docs", "figures.json")
BEGIN, END = "<!-- figures: made by scripts/figures.py -->\n", "<!-- end of figures -->\n"
QUIET_LOAD = 0.5  # of each processor
IN_README = frozenset(
    ("bridge_reply", "list_with_hub", "list_without_hub", "call", "rate", "client_memory", "hub_memory", "desktop_memory", "window", "deb")
)
PAGES: dict[str, Container[str] | None] = {"docs/figures.md": None, "README.md": IN_README}


class Row(msgspec.Struct, frozen=True):
    """A row of the tables.

    Attributes:
        values: Tooltray's figures; empty if they were not measured.
        aim: a limit for each of the first figures; empty without one.
        direct: the same figures without Tooltray.
        peer: the same figures of FastMCP's proxy.
        note: further figures, or why nothing was measured.
        is_least: the aim is a lower limit.
    """

    id: str
    what: str
    unit: str
    values: tuple[float, ...]
    aim: tuple[float, ...] = ()
    direct: tuple[float, ...] = ()
    peer: tuple[float, ...] = ()
    note: str = ""
    is_least: bool = False
    reached: bool | None = None

    def __post_init__(self) -> None:
        if self.values and self.aim:
            pairs = list(zip(self.values, self.aim, strict=False))
            reached = all(value >= aim if self.is_least else value <= aim for value, aim in pairs)
            msgspec.structs.force_setattr(self, "reached", reached)

    @property
    def text(self) -> str:
        """Tooltray's figures and the note."""
        return f"{shown(self.values, self.unit)} ({self.note})" if self.values and self.note else shown(self.values, self.unit) or self.note


class Run(msgspec.Struct, frozen=True):
    """One run of the benchmark.

    Attributes:
        peer: FastMCP's version.
        commit: the last one that changed the program.
        is_clean: the program and the benchmark had no changes that were not committed.
        load: of the machine when the run began.
    """

    machine: str
    processors: int
    python: str
    peer: str
    date: str
    commit: str
    is_clean: bool
    rounds: int
    load: float
    took_s: float
    rows: tuple[Row, ...]


def table(run: Run, ids: Container[str] | None = None) -> str:
    """Returns the rows with these ids (None: all rows) as a Markdown table, under a line about the run."""
    head = f"| what | aim | Tooltray | reached | direct | FastMCP proxy {run.peer} |"
    lines = [about(run), "", head, "|---|---|---|---|---|---|"]
    for row in run.rows:
        if ids is None or row.id in ids:
            aim = f"{'≥' if row.is_least else '≤'} {shown(row.aim, row.unit)}" if row.aim else ""
            reached = {True: "yes", False: "no", None: ""}[row.reached]
            lines.append(f"| {row.what} | {aim} | {row.text} | {reached} | {shown(row.direct, row.unit)} | {shown(row.peer, row.unit)} |")
    return "\n".join(lines) + "\n"


def about(run: Run) -> str:
    """Returns a paragraph about the run, in lines that are short enough for a page."""
    rounds = f"medians of {run.rounds} rounds" if run.rounds > 1 else "a single round"
    reached = [row.reached for row in run.rows if row.reached is not None]
    lines = [
        f"Measured on {run.date} at commit {run.commit[:8] or 'unknown'}{'' if run.is_clean else ', with changes that are not committed'}, "
        f"{rounds}, in {run.took_s / 60:.0f} minutes;",
        f"{run.machine}, Python {run.python}. {sum(reached)} of {len(reached)} aims are reached.",
    ]
    if run.load > QUIET_LOAD * run.processors:
        lines.append(f"Other programs used the machine meanwhile (load {run.load:.1f}): read the ratios.")
    return "\n".join(lines)


def shown(figures: tuple[float, ...], unit: str) -> str:
    return f"{' / '.join(map(_shown, figures))} {unit}".strip() if figures else ""


def _shown(figure: float) -> str:
    """Returns a figure with about three digits."""
    size = abs(figure)
    if size >= 100 or figure == int(figure):
        return f"{figure:,.0f}"
    return f"{figure:.{1 if size >= 10 else 2 if size >= 1 else 3}f}".rstrip("0").rstrip(".")


def with_table(page: str, made: str) -> str:
    """Returns the page with another table between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"the page has no {BEGIN.strip()} ... {END.strip()}")
    return f"{before}{begin}\n{made}\n{end}{after}"


def faults(root: Path) -> Iterator[str]:
    """Yields what is wrong with the stored run and the pages."""
    run = msgspec.json.decode((root / STORED).read_bytes(), type=Run)
    for name, ids in PAGES.items():
        page = (root / name).read_text(encoding="utf-8")
        if with_table(page, table(run, ids)) != page:
            yield f"{name} is not up to date: run python scripts/figures.py"
    if is_of_another_history(root, run.commit):
        yield f"{STORED} is of commit {run.commit}, which this one does not come from: run make bench"


def is_of_another_history(root: Path, commit: str) -> bool:
    """Returns whether a commit is no ancestor; False where the history is not known."""

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)

    if not shutil.which("git") or git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        return False
    return git("merge-base", "--is-ancestor", commit, "HEAD").returncode != 0


def take_over(root: Path, path: Path) -> None:
    """Stores a run and writes its tables.

    Raises:
        SystemExit: the run is not of a commit.
    """
    run = msgspec.json.decode(path.read_bytes(), type=Run)
    if not run.is_clean or not run.commit:
        raise SystemExit("the figures are not those of a commit: commit what was changed, and run make bench again")
    (root / STORED).write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")
    for name, ids in PAGES.items():
        page = root / name
        page.write_text(with_table(page.read_text(encoding="utf-8"), table(run, ids)), encoding="utf-8")


def main(words: list[str]) -> int:
    if words != ["--check"]:
        take_over(ROOT, Path(words[0]) if words else ROOT / STORED)
        return 0
    found = list(faults(ROOT))
    sys.stderr.write("".join(f"{fault}\n" for fault in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
