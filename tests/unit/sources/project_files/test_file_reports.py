"""file_reports.py: lines, problems and the plan of a reload."""

from collections.abc import Mapping
from typing import Any

from tooltray.config.settings.file_server import FileEntry, FileServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings_reading import read_settings
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.setup import FileEntrySnapshot, FileProblem, ReloadChange, ServerFileSnapshot
from tooltray.sources.project_files.file_reports import (
    MOST_NAMES,
    MOST_REPORTED,
    MOST_UNUSABLE,
    Known,
    ProblemReports,
    first_problems,
    kept,
    left_out,
    plan,
    served_lines,
    unusable,
    waiting,
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
    assert line == f"/p/my shop/.mcp.json brings files, w\\u202eeb. Review what they start, and allow them: {look}"


def test_what_everybody_has_is_told_by_its_names_here() -> None:
    project = ServerFileSnapshot("/p/.mcp.json", "mcp.json", project="/p", entries=SHOP.entries)
    hub = ServerFileSnapshot("/c/off.json", "tbxark", entries=(FileEntrySnapshot("off", "", "off"),))
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


HERE, THERE = "/home-of/settings.json", "/shop/.mcp.json"
KEY = "sk-very-secret"


def known(document: Mapping[str, Any] | None = None, files: Mapping[str, FileServer] | None = None) -> Known:
    return Known(read_settings(dict(document or {})).settings, HERE, files or {})


def servers(**entries: Mapping[str, Any]) -> Known:
    return known({"mcpServers": entries})


def of_file(entry: Mapping[str, Any], *, folder: str = "", variables: Mapping[str, str] | None = None) -> FileServer:
    written = FileEntry("s", MCPServerConfig.model_validate(entry), entry, variables=variables or {})
    return FileServer(written, THERE, "project", folder)


def said(before: Known, after: Known) -> list[tuple[str, str, str]]:
    return [(each.kind, each.name, each.detail) for each in plan(before, after)]


def test_where_nothing_has_changed_there_is_nothing_to_do() -> None:
    assert plan(servers(a={"command": "x"}), servers(a={"command": "x"})) == []


def test_servers_go_change_and_come_in_that_order() -> None:
    before = servers(gone={"command": "x"}, same={"command": "x"}, other={"command": "x"})
    after = servers(new={"url": "http://127.0.0.1/"}, same={"command": "x"}, other={"command": "y", "args": [KEY]})
    assert plan(before, after) == [
        ReloadChange("remove", "gone", HERE),
        ReloadChange("restart", "other", HERE, "command, args"),
        ReloadChange("add", "new", HERE, "http"),
    ]


def test_what_does_not_change_the_program_does_not_restart_it() -> None:
    before, after = servers(a={"command": "x"}), servers(a={"command": "x", "autoApprove": ["all"], "disabledTools": ["t"]})
    assert said(before, after) == [("change", "a", "autoApprove, disabledTools")]


def test_fields_are_named_and_their_values_are_not() -> None:
    before = servers(a={"command": "x", "env": {"KEY": "old"}})
    after = servers(a={"command": "x", "env": {"KEY": KEY, "B\x1b[1m": KEY}})
    ((_, _, detail),) = said(before, after)
    assert detail == "env.KEY, env.B?[1m"


def test_of_many_fields_the_first_are_named() -> None:
    after = servers(a={"command": "x", "env": {f"V{number}": "x" for number in range(20)}})
    assert said(servers(a={"command": "x"}), after)[0][2].endswith("env.V7 and 12 more")


def test_settings_are_named_by_their_path() -> None:
    before = known(
        {"publish": {"http": {"port": 1}, "clients": {"x": {"mode": "lazy"}, "same": {}}}, "customNpmRegistry": f"https://u:{KEY}@host/"}
    )
    after = known(
        {"publish": {"naming": "always", "feedback": False, "http": {"port": 2, "enabled": True}, "clients": {"y": {}, "same": {}}}}
    )
    assert said(before, after) == [
        ("setting", "publish.naming", "changed"),
        ("setting", "publish.http.enabled", "on"),
        ("setting", "publish.http.port", "changed"),
        ("setting", "publish.clients.x", "taken out"),
        ("setting", "publish.clients.y", "added"),
        ("setting", "publish.feedback", "off"),
        ("setting", "customNpmRegistry", "taken out"),
    ]


def test_the_servers_of_other_files_are_told_with_their_file() -> None:
    before = known(files={"a": of_file({"command": "x"}), "b": of_file({"command": "x"})})
    after = known(files={"a": of_file({"command": "y"}), "c": of_file({"command": "x"})})
    assert [(each.kind, each.name, each.file) for each in plan(before, after)] == [
        ("remove", "b", THERE),
        ("restart", "a", THERE),
        ("add", "c", THERE),
    ]


def test_a_server_of_a_file_that_runs_elsewhere_is_restarted() -> None:
    before = known(files={"a": of_file({"command": "x"}, folder="/shop")})
    assert said(before, known(files={"a": of_file({"command": "x"}, folder="/other")})) == [("restart", "a", "where it comes from")]
    assert said(before, known(files={"a": of_file({"command": "x"}, folder="/shop", variables={"V": "1"})}))[0][0] == "restart"
    assert said(before, servers(a={"command": "x"})) == [("restart", "a", "where it comes from")]


def test_a_choice_made_here_for_a_server_of_a_file_changes_it_as_it_runs() -> None:
    files = {"a": of_file({"command": "x"})}
    assert said(known(files=files), known({"fileServers": {"a": {"autoApprove": []}}}, files)) == [("change", "a", "autoApprove")]


def test_an_entry_of_the_settings_goes_before_one_of_a_file_of_the_same_name() -> None:
    both = known({"mcpServers": {"a": {"command": "x"}}}, {"a": of_file({"command": "y"})})
    assert plan(servers(a={"command": "x"}), both) == []


def test_what_waits_and_what_is_kept_says_why() -> None:
    assert "it is not allowed" in waiting("a", THERE, is_change=False).detail
    assert "it has changed; the old version keeps running until the new one is allowed" in waiting("a", THERE, is_change=True).detail
    assert kept("", THERE, Problem("is not JSON", "line 3", "Correct it")) == ReloadChange("keep", "", THERE, "is not JSON: line 3")
    assert kept("", THERE, Problem("it is gone")).detail == "it is gone"


def test_what_it_says_can_be_said_in_another_language() -> None:
    many = servers(a={"command": "x", "env": {f"V{number}": "x" for number in range(20)}})
    settings = known({"customNpmRegistry": "https://r.test/", "publish": {"feedback": False}})
    changed = [*plan(servers(a={"command": "x"}), many), *plan(known(), settings), *plan(settings, known())]
    changes = [*changed, waiting("a", THERE, is_change=True), waiting("a", THERE, is_change=False)]
    assert [type(change.detail) for change in changes] == [Phrase] * len(changes)
    broken = kept("", THERE, Problem(Phrase("is not JSON"), Phrase("line {line}", line=3))).detail
    assert isinstance(broken, Phrase)
    assert [type(value) for value in broken.fields.values()] == [Phrase, Phrase]


def test_entries_that_cannot_be_used_stay_as_they_are_the_first_few_of_very_many() -> None:
    def broken(number: int) -> FileProblem:
        return FileProblem(Problem("not used", Phrase("line {line}", line=number)), number, f"s{number}")

    some = [FileProblem(Problem("of the file as a whole")), broken(1), broken(2)]
    assert list(unusable(THERE, some)) == [ReloadChange("keep", "s1", THERE, "line 1"), ReloadChange("keep", "s2", THERE, "line 2")]
    assert [change.detail for change in left_out(THERE, some)] == ["of the file as a whole"]
    many = list(unusable(THERE, [broken(number) for number in range(MOST_UNUSABLE + 3)]))
    assert many[MOST_UNUSABLE:] == [ReloadChange("keep", "", THERE, "and 3 more problems")]
