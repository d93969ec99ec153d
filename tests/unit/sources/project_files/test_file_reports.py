"""file_reports.py: lines about files with servers."""

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.files import FileEntrySnapshot, FileProblem, ServerFileSnapshot
from tooltray.sources.project_files.file_reports import (
    MOST_NAMES,
    MOST_REPORTED,
    ProblemReports,
    first_problems,
    served_lines,
    waiting_lines,
)

OWN = ServerFileSnapshot("/h/settings.json", "settings", entries=(FileEntrySnapshot("git", "git", "used"),))
SHOP = ServerFileSnapshot(
    "/p/my shop/.mcp.json",
    "mcp.json",
    project="/p/my shop",
    entries=(
        FileEntrySnapshot("db", "db-shop", "used"),
        FileEntrySnapshot("files", "files", "changed"),
        FileEntrySnapshot("w\u202eeb", "", "waits"),
        FileEntrySnapshot("off", "", "off"),
    ),
)


def test_what_waits_is_told_with_its_file_and_the_way_to_say_yes() -> None:
    [line] = waiting_lines([OWN, SHOP])
    look = "tooltray trust " + quoted("/p/my shop")
    assert line == f"/p/my shop/.mcp.json brings files, w\\u202eeb. Look at what they start, and allow them: {look}"


def test_what_everybody_has_is_told_by_its_names_here() -> None:
    project = ServerFileSnapshot("/p/.mcp.json", "mcp.json", project="/p", entries=SHOP.entries)
    hub = ServerFileSnapshot("/c/hub.json5", "mcp-hub", entries=(FileEntrySnapshot("off", "", "off"),))
    tbxark = ServerFileSnapshot("/c/config.json", "tbxark", entries=(FileEntrySnapshot("fetch", "fetch", "used"),))
    of_one = ServerFileSnapshot("/q/.mcp.json", "mcp.json", project="/q", is_for_all=False, entries=SHOP.entries)
    assert list(served_lines([OWN, project, hub, tbxark, of_one])) == ["Serves /p/.mcp.json: db-shop, files"]


def test_many_servers_are_counted_in_the_end() -> None:
    entries = tuple(FileEntrySnapshot(f"s{number}", "", "waits") for number in range(MOST_NAMES + 3))
    [line] = waiting_lines([ServerFileSnapshot("/p/.mcp.json", "mcp.json", project="/p", entries=entries)])
    assert f"s{MOST_NAMES - 1} and 3 more. " in line


def test_as_many_servers_as_are_named_are_all_of_them() -> None:
    for count, ending in ((MOST_NAMES, f"s{MOST_NAMES - 1}. "), (MOST_NAMES + 1, f"s{MOST_NAMES - 1} and 1 more. ")):
        entries = tuple(FileEntrySnapshot(f"s{number}", "", "waits") for number in range(count))
        [line] = waiting_lines([ServerFileSnapshot("/p/.mcp.json", "mcp.json", project="/p", entries=entries)])
        assert ending in line


def problems(*numbers: int) -> list[FileProblem]:
    return [FileProblem(Problem(f"problem {number}"), number) for number in numbers]


def test_each_problem_of_a_file_is_said_once_as_long_as_it_is_there() -> None:
    bus = EventBus()
    said: list[str] = []
    bus.subscribe(ProblemReported, lambda event: said.append(event.problem.title))
    reports = ProblemReports(bus)
    reports.report("/a", problems(1, 2))
    reports.report("/a", problems(1, 2, 3))
    assert said == ["problem 1", "problem 2", "problem 3"]
    reports.report("/a", problems(3))
    reports.report("/a", problems(1, 3))
    reports.report("/b", problems(3))
    assert said[3:] == ["problem 1", "problem 3"]


def test_of_very_many_problems_the_first_are_said_and_the_others_counted() -> None:
    exactly = [each.title for each in first_problems("/a", problems(*range(MOST_REPORTED)))]
    assert exactly == [f"problem {number}" for number in range(MOST_REPORTED)]
    *first, last = first_problems("/a", problems(*range(MOST_REPORTED + 3)))
    assert [each.title for each in first] == exactly
    assert last.message == "and 3 more problems"
