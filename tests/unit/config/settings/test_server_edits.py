import copy
import json

import pytest

from tooltray.config.settings import server_edits
from tooltray.config.settings.document import Document, members
from tooltray.config.settings.server_config import ToolFilter
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files.json_text import revision_of

ENTRY = {"command": "one"}


def document() -> Document:
    return {"mcpServers": {"a": dict(ENTRY), "b": {"command": "two"}}, "defaultServers": ["a", "b"]}


def test_a_server_goes_with_its_place_among_those_that_start_with_the_hub() -> None:
    server_edits.without_entry("a", revision_of(ENTRY))(after := document())
    assert after == {"mcpServers": {"b": {"command": "two"}}, "defaultServers": ["b"]}


def test_a_server_that_is_another_one_by_now_stays() -> None:
    for edit in (
        server_edits.without_entry("a", revision_of({"command": "seen"})),
        server_edits.entry("a", {"command": "new"}, is_default=None, revision=revision_of({"command": "seen"}), is_new=False),
    ):
        with pytest.raises(Conflict):
            edit(after := document())
        assert after == document()


def test_a_server_that_nobody_has_is_not_removed() -> None:
    with pytest.raises(NotFound, match="gone"):
        server_edits.without_entry("gone", "")(document())


def test_what_an_edit_changed_and_removed_is_noted() -> None:
    def edit(document: Document) -> None:
        servers = document["mcpServers"]
        assert isinstance(servers, dict)
        servers["a"]["args"] = ["x"]
        del servers["b"]
        servers["c"] = {"command": "new"}

    watched = server_edits.Watched(edit)
    watched(document())
    assert watched.edited == ("a", "b")


def test_what_starts_with_the_hub_has_an_entry_or_is_known_without_one() -> None:
    with pytest.raises(NotFound, match="gone"):
        server_edits.default("gone", True, is_known=False)(document())
    for name, is_default, is_known in (("gone", True, True), ("a", True, False)):
        server_edits.default(name, is_default, is_known=is_known)(after := document())
        assert name in after["defaultServers"]
        server_edits.default(name, False, is_known=False)(after)
        assert name not in after["defaultServers"]


def test_a_field_is_written_in_the_spelling_that_is_there_and_what_nobody_gave_is_not() -> None:
    after: Document = {"mcpServers": {"a": {"url": "https://a"}}}
    overrides = {"t": ToolOverride(name="other")}
    change = {"base_url": "https://b", "tool_filter": ToolFilter(mode="block"), "tool_overrides": overrides, "call_timeout": 5.0}
    server_edits.fields("a", change)(after)
    assert after["mcpServers"] == {
        "a": {
            "url": "https://b",
            "toolFilter": {"mode": "block", "list": []},
            "toolOverrides": {"t": {"name": "other"}},
            "callTimeout": 5.0,
        }
    }
    server_edits.fields("a", {"tool_filter": None, "tool_overrides": None, "call_timeout": None, "cwd": None})(after)
    assert after["mcpServers"] == {"a": {"url": "https://b"}}


def test_of_a_server_that_is_not_there_nothing_is_changed_or_shown() -> None:
    for look in (
        lambda: server_edits.fields("gone", {"disable": True})(document()),
        lambda: server_edits.written_entry(document(), "gone"),
    ):
        with pytest.raises(NotFound, match="Server 'gone' not found"):
            look()
    assert server_edits.written_entry(document(), "a") == ENTRY


def test_a_new_server_takes_nobody_s_name() -> None:
    with pytest.raises(Conflict, match="there is a server 'a' already"):
        server_edits.entry("a", {"command": "new"}, is_default=None, revision="", is_new=True)(after := document())
    assert after == document()


@pytest.mark.parametrize(("is_default", "names"), [(None, ["a", "b"]), (True, ["a", "b"]), (False, ["b"])])
def test_an_entry_is_replaced_in_its_place_and_starts_with_the_hub_as_is_said(is_default: bool | None, names: list[str]) -> None:
    edit = server_edits.entry("a", {"command": "new"}, is_default=is_default, revision=revision_of(ENTRY), is_new=False, before=["a", "b"])
    edit(after := document())
    assert after == {"mcpServers": {"a": {"command": "new"}, "b": {"command": "two"}}, "defaultServers": names}
    assert list(members(after, "mcpServers")) == ["a", "b"]


def test_all_servers_are_paused_for_a_time_or_until_they_are_resumed() -> None:
    after: Document = {}
    for is_enabled, until, found in (
        (False, 99.0, {"mcpEnabled": False, "pausedUntil": 99.0}),
        (False, 0.0, {"mcpEnabled": False}),
        (True, 99.0, {"mcpEnabled": True}),
    ):
        server_edits.enabled(is_enabled, until)(after)
        assert after == found


def test_all_choices_for_a_server_in_another_file_are_read_and_replaced() -> None:
    after: Document = {"fileServers": {"a": {"disable": True}, "b": {"callTimeout": 5.0}}}
    chosen = {"a": {}, "c": dict(server_edits.choices_of(after, "b"))}
    edit = server_edits.all_choices(chosen)
    chosen["c"]["callTimeout"] = 6.0  # comes too late
    edit(after)
    assert after == {"fileServers": {"b": {"callTimeout": 5.0}, "c": {"callTimeout": 5.0}}}
    assert server_edits.choices_of(after, "a") == {}


def test_of_a_server_in_another_file_the_last_choice_that_goes_leaves_no_empty_object() -> None:
    server_edits.choices("far", {"disabled_tools": ["rm"], "call_timeout": 5.0})(after := document())
    assert after["fileServers"] == {"far": {"disabledTools": ["rm"], "callTimeout": 5.0}}
    server_edits.choices("far", {"disabled_tools": None})(after)
    assert after["fileServers"] == {"far": {"callTimeout": 5.0}}
    server_edits.choices("far", {"call_timeout": None})(after)
    assert after["fileServers"] == {}


def test_of_a_server_in_another_file_whose_choices_cannot_be_read_nothing_is_changed() -> None:
    choices: Document = {"fileServers": {"far": {"confinement": "onw"}, "odd": 3}}
    with pytest.raises(TooltrayError, match=r"fileServers: far\.confinement"):
        server_edits.choices("far", {"disabled_tools": ["rm"]})(copy.deepcopy(choices))
    server_edits.choices("far", {"confinement": None, "call_timeout": 5.0})(choices)
    assert choices == {"fileServers": {"far": {"callTimeout": 5.0}, "odd": 3}}


@pytest.mark.parametrize(("before", "order"), [([], "abcn"), (["gone", "b", "a"], "anbc"), (["gone"], "abcn")])
def test_a_new_server_comes_before_the_first_that_is_there_or_last(before: list[str], order: str) -> None:
    entries: Document = {name: {"command": name} for name in "abc"}
    server_edits.entry("n", {"command": "n"}, is_default=None, revision="", is_new=True, before=before)({"mcpServers": entries})
    assert "".join(entries) == order


def test_a_renamed_server_keeps_its_place_and_all_that_names_it() -> None:
    before = {
        "mcpServers": {"a": dict(ENTRY), "b": {"command": "two"}},
        "defaultServers": ["a", "b"],
        "profiles": {"p": {"servers": ["b", "a"], "tools": {"a": ["t"], "b": ["t"]}, "skills": {"a": ["k"]}}, "all": {"description": "x"}},
        "publish": {"clients": {"c": {"callRules": [{"tool": "t", "server": "a"}, {"tool": "t", "server": "b"}, {"tool": "t"}]}, "d": {}}},
    }
    server_edits.renamed("a", "new")(after := copy.deepcopy(before))
    assert json.dumps(after) == json.dumps(before).replace('"a"', '"new"')


def test_a_renamed_server_gains_nothing_that_still_names_an_earlier_one() -> None:
    after: Document = {
        "mcpServers": {"a": dict(ENTRY)},
        "defaultServers": ["new"],
        "profiles": {"p": {"servers": ["new", "b"], "tools": {"new": ["t"]}, "skills": {"new": ["k"]}}},
        "publish": {"clients": {"c": {"callRules": [{"tool": "t", "server": "new"}, {"tool": "t"}]}}},
    }
    server_edits.renamed("a", "new")(after)
    assert after == {
        "mcpServers": {"new": ENTRY},
        "defaultServers": [],
        "profiles": {"p": {"servers": ["b"], "tools": {}, "skills": {}}},
        "publish": {"clients": {"c": {"callRules": [{"tool": "t"}]}}},
    }


def test_what_cannot_be_read_does_not_keep_a_server_from_its_new_name() -> None:
    odd: Document = {
        "defaultServers": "a",
        "profiles": {"p": 1, "q": {"servers": 2}},
        "publish": {"clients": {"c": 3, "d": {"callRules": ["a"]}}},
    }
    server_edits.renamed("a", "new")(after := {"mcpServers": {"a": dict(ENTRY)}, **copy.deepcopy(odd)})
    assert after == {"mcpServers": {"new": ENTRY}, **odd}


def test_a_server_gets_no_name_that_is_taken_and_only_one_that_is_there_gets_one() -> None:
    with pytest.raises(Conflict, match="already"):
        server_edits.renamed("a", "b")(after := document())
    assert after == document()
    with pytest.raises(NotFound, match="gone"):
        server_edits.renamed("gone", "new")(document())
