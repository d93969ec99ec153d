"""published_names.py, name_space.py"""

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.modes import has_mode

from tooltray.config.naming.published_names import RETURNS_WITHIN_S, PublishedNames

VALID = re.compile(r"[A-Za-z0-9_-]{1,46}", re.ASCII)

Tool = tuple[str, str]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "names.json"


def one(names: PublishedNames, server: str, original: str) -> str:
    return names.publish([(server, original)])[server, original]


def merged(name: str) -> str:
    """As the most careless client sees it."""
    return name.replace("-", "_").lower()


def test_a_tool_nobody_else_has_keeps_its_name(path: Path) -> None:
    names = PublishedNames(path)
    assert names.publish([("fs", "read_file"), ("git", "git-log")]) == {("fs", "read_file"): "read_file", ("git", "git-log"): "git-log"}
    assert names.target("read_file") == ("fs", "read_file")
    assert (names.known(("fs", "read_file")), names.known(("fs", "gone"))) == ("read_file", None)
    assert names.target("unknown") is None
    assert names.holder("read_file", kind="tools") == ("fs", "read_file")
    assert names.holder("git_log", kind="tools") is None
    assert one(names, "git", "git show") == "git_show"
    assert names.holder("git_show", kind="tools") is None


def test_two_newcomers_with_one_name_both_get_their_servers_before_it(path: Path) -> None:
    found = PublishedNames(path).publish([("a", "read"), ("b", "read")])
    assert found == {("a", "read"): "a_read", ("b", "read"): "b_read"}


def test_a_newcomer_that_meets_a_given_name_changes_alone(path: Path) -> None:
    names = PublishedNames(path)
    assert one(names, "a", "read") == "read"
    assert names.publish([("a", "read"), ("b", "read")]) == {("a", "read"): "read", ("b", "read"): "b_read"}


def test_a_third_server_gets_its_prefix_too_where_two_met_before(path: Path) -> None:
    PublishedNames(path).publish([("a", "read"), ("b", "read")])
    assert one(PublishedNames(path), "c", "read") == "c_read"


@pytest.mark.parametrize("other", ["Get-It", "GET_IT", "get.it", "get it", "gét_it"])
def test_names_that_a_client_could_merge_meet(path: Path, other: str) -> None:
    found = PublishedNames(path).publish([("a", "get_it"), ("b", other)])
    assert found["a", "get_it"] == "a_get_it"
    assert merged(found["b", other]) == "b_get_it"


def test_tools_of_one_server_that_would_be_merged_are_told_apart(path: Path) -> None:
    names = PublishedNames(path)
    tools = [("gh", "create.issue"), ("gh", "create-issue"), ("gh", "create/issue")]
    found = list(names.publish(tools).values())
    assert len({merged(name) for name in found}) == 3
    assert all(merged(name).startswith("gh_create_issue_") for name in found)


def test_a_prefixed_name_that_meets_another_tools_own_name_gives_way(path: Path) -> None:
    found = PublishedNames(path).publish([("a", "b"), ("c", "b"), ("d", "a_b")])
    assert found["d", "a_b"] == "a_b"
    assert found["c", "b"] == "c_b"
    assert re.fullmatch(r"a_b_[0-9a-f]{6}", found["a", "b"])


@pytest.mark.parametrize("original", ["x" * 41, "查询" * 30, "a" * 30 + "1" + "b" * 30, "", "!!!", "搜索"])
def test_long_and_foreign_names_become_short_plain_ones_and_lead_back(path: Path, original: str) -> None:
    names = PublishedNames(path)
    name = one(names, "server", original)
    assert VALID.fullmatch(name)
    assert len(name) <= 40
    assert names.target(name) == ("server", original)


def test_a_name_of_40_characters_is_kept_and_a_longer_one_ends_in_a_hash(path: Path) -> None:
    names = PublishedNames(path)
    assert one(names, "s", "x" * 40) == "x" * 40
    assert re.fullmatch(r"y{33}_[0-9a-f]{6}", one(names, "s", "y" * 41))


def test_long_names_that_differ_only_in_the_middle_or_at_the_end_stay_apart(path: Path) -> None:
    tools = [("s", "a" * 30 + middle + "b" * 30 + end) for middle in "xyz" for end in "123"]
    found = PublishedNames(path).publish(tools)
    assert len({merged(name) for name in found.values()}) == 9


def test_the_same_long_tool_of_two_servers_shows_both_servers(path: Path) -> None:
    found = PublishedNames(path).publish([("alpha", "t" * 50), ("a-server-with-a-long-name", "t" * 50)])
    assert found["alpha", "t" * 50].startswith("alpha_ttt")
    assert found["a-server-with-a-long-name", "t" * 50].startswith("a-server_ttt")


def test_servers_of_other_scripts_have_a_plain_prefix_of_their_own(path: Path) -> None:
    found = PublishedNames(path, naming="always").publish([("我的服务器", "read"), ("我的服务器", "list"), ("别的", "read")])
    mine, again, other = (name.rpartition("_")[0] for name in found.values())
    assert mine == again != other


def test_accents_go_and_letters_stay(path: Path) -> None:
    assert one(PublishedNames(path), "s", "créer un événement") == "creer_un_evenement"


def test_names_are_the_same_in_the_next_run_and_in_another_order_of_servers(path: Path) -> None:
    tools = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "z" * 60)]
    first = PublishedNames(path).publish(tools)
    assert PublishedNames(path).publish(reversed(tools)) == first
    assert PublishedNames(path).target("a_x") == ("a", "x")


def test_a_name_is_not_given_again_after_its_tool_has_gone(path: Path) -> None:
    one(PublishedNames(path), "removed", "read")
    names = PublishedNames(path)
    assert one(names, "new", "read") == "new_read"
    assert names.target("read") == ("removed", "read")


def test_naming_always_prefixes_newcomers_and_names_given_stay(path: Path) -> None:
    names = PublishedNames(path)
    assert one(names, "a", "read") == "read"
    names.naming = "always"
    assert one(names, "a", "write") == "a_write"
    assert one(PublishedNames(path, naming="always"), "a", "read") == "read"
    assert one(PublishedNames(path), "a", "write") == "a_write"


def test_reset_forgets_in_memory_and_on_disk(path: Path) -> None:
    names = PublishedNames(path)
    one(names, "a", "read")
    one(names, "b", "read")
    names.reset()
    assert names.target("read") is None
    assert one(PublishedNames(path), "b", "read") == "read"
    assert one(names, "b", "read") == "read"


def test_a_name_is_on_disk_before_anybody_sees_it_and_known_names_write_nothing(path: Path) -> None:
    names = PublishedNames(path)
    one(names, "a", "read")
    assert json.loads(path.read_text())["names"] == {"a": {"read": "read"}}
    assert has_mode(path, 0o600)
    later = PublishedNames(path)
    path.unlink()
    for each in (names, later):
        assert one(each, "a", "read") == "read"
    assert not path.exists()


def test_every_form_a_tool_could_get_may_be_taken_and_it_still_gets_a_name(path: Path) -> None:
    taken: list[str] = ["read"]
    for _ in range(6):
        path.write_text(json.dumps({"version": 1, "names": {"other": {f"tool{i}": name for i, name in enumerate(taken)}}}))
        name = one(PublishedNames(path), "a", "read")
        assert VALID.fullmatch(name)
        assert name not in taken
        taken.append(name)


@pytest.mark.expected_warnings("cannot be saved")
def test_names_hold_in_memory_while_the_file_cannot_be_written_and_are_kept_as_soon_as_it_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "missing" / "names.json"
    names = PublishedNames(path)
    assert one(names, "a", "read") == "read"
    assert one(names, "b", "read") == "b_read"
    assert len([record for record in caplog.records if "cannot be saved" in record.message]) == 1
    path.parent.mkdir()
    assert one(names, "a", "read") == "read"
    assert PublishedNames(path).target("b_read") == ("b", "read")
    path.unlink()
    path.mkdir()
    one(names, "c", "list")
    assert len([record for record in caplog.records if "cannot be saved" in record.message]) == 2


NO_FILES_OF_NAMES = ["", "{", "null", "[]", '{"names": {}}', '{"version": 2, "names": {}}', '{"version": 1, "names": []}', "[" * 100_000]


@pytest.mark.expected_warnings("set aside")
@pytest.mark.parametrize("content", NO_FILES_OF_NAMES)
def test_what_is_no_file_of_names_is_set_aside_and_names_begin_anew(path: Path, content: str) -> None:
    path.write_text(content)
    assert one(PublishedNames(path), "a", "read") == "read"
    (aside,) = path.parent.glob("names.json.broken-*")
    assert aside.read_text() == content
    assert PublishedNames(path).target("read") == ("a", "read")


@pytest.mark.expected_warnings("set aside")
def test_of_a_file_with_bad_entries_the_good_ones_are_kept_and_a_copy_of_all(path: Path) -> None:
    bad = {"b": {"x": "not valid!", "y": 7, "z": "w" * 47}, "c": None, "d": {"same": "A-GOOD"}}
    content = json.dumps({"version": 1, "names": {"a": {"good": "a_good"}, **bad}})
    path.write_text(content)
    names = PublishedNames(path)
    assert names.target("a_good") == ("a", "good")
    assert names.target("A-GOOD") is None
    (aside,) = path.parent.glob("names.json.broken-*")
    assert aside.read_text() == content
    assert json.loads(path.read_text())["names"] == {"a": {"good": "a_good"}}


@pytest.mark.expected_warnings("set aside")
def test_a_folder_in_the_files_place_is_set_aside(path: Path) -> None:
    path.mkdir()
    assert one(PublishedNames(path), "a", "read") == "read"
    assert path.is_file()


@pytest.mark.expected_warnings("cannot be set aside", "cannot be saved")
def test_a_place_that_can_neither_be_read_nor_set_aside_does_not_stop_the_names(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert one(PublishedNames(tmp_path / "file" / "names.json"), "a", "read") == "read"


def test_five_thousand_tools_all_get_their_names(path: Path) -> None:
    tools = [(f"server{i % 5}", f"工具-{i // 2}-with_a_tail_that_is_quite_long") for i in range(5000)]
    names = PublishedNames(path)
    found = names.publish(tools)
    assert len({merged(name) for name in found.values()}) == 5000
    assert PublishedNames(path).publish(tools) == found


awkward_text = st.one_of(
    st.sampled_from(["a", "A", "b", "a_b", "a-b", "A_b", "read", "re-ad", "x" * 39, "x" * 40, "x" * 41, "x" * 90, "", "读", ".", "\ud800"]),
    st.text("aA_-.", max_size=5),
    st.text(st.characters(), max_size=60),
)
batches = st.lists(
    st.tuples(st.lists(st.tuples(awkward_text, awkward_text), max_size=12), st.sampled_from(["conflict", "always"]), st.booleans()),
    max_size=5,
)


@given(batches)
def test_whatever_is_published_names_are_valid_unique_and_for_ever(rounds: Sequence[tuple[list[Tool], str, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, mirror_path = Path(folder, "names.json"), Path(folder, "mirror.json")
        names, mirror = PublishedNames(path), PublishedNames(mirror_path)
        given_names: dict[Tool, str] = {}
        for tools, naming, is_restarted in rounds:
            if is_restarted:
                names = PublishedNames(path)
            names.naming = mirror.naming = naming  # type: ignore[assignment]
            found = names.publish(tools)
            assert mirror.publish(reversed(tools)) == found
            assert found.keys() == set(tools)
            for tool, name in found.items():
                assert VALID.fullmatch(name)
                assert given_names.setdefault(tool, name) == name
                assert names.target(name) == tool
            assert len({merged(name) for name in given_names.values()}) == len(given_names)
            assert {tool: names.publish([tool])[tool] for tool in given_names} == given_names


# prompts


def test_prompts_have_a_name_space_of_their_own_under_the_same_rule(path: Path) -> None:
    names = PublishedNames(path)
    assert one(names, "a", "review") == "review"
    found = names.publish([("b", "review"), ("b", "sum.up"), ("c", "sum_up"), ("b", "工")], kind="prompts")
    assert found["b", "review"] == "review"
    assert (found["b", "sum.up"], found["c", "sum_up"]) == ("b_sum_up", "c_sum_up")
    assert found["b", "工"].startswith("prompt_")
    assert names.target("review") == ("a", "review")
    assert names.target("review", kind="prompts") == ("b", "review")


def test_names_of_prompts_are_kept_beside_those_of_tools_and_forgotten_alone(path: Path) -> None:
    names = PublishedNames(path)
    names.publish([("a", "t")])
    names.publish([("a", "p"), ("b", "p")], kind="prompts")
    again = PublishedNames(path)
    assert again.publish([("c", "p")], kind="prompts") == {("c", "p"): "c_p"}
    again.reset()
    assert again.target("t") is None
    assert PublishedNames(path).target("a_p", kind="prompts") == ("a", "p")
    again.reset(kind="prompts")
    assert PublishedNames(path).target("a_p", kind="prompts") is None


def test_a_file_of_the_first_version_has_no_prompts_and_can_be_used(path: Path) -> None:
    path.write_text(json.dumps({"version": 1, "names": {"a": {"t": "t"}}}))
    names = PublishedNames(path)
    assert names.target("t") == ("a", "t")
    assert names.publish([("a", "t")], kind="prompts") == {("a", "t"): "t"}
    assert json.loads(path.read_text()) == {"version": 1, "names": {"a": {"t": "t"}}, "prompts": {"a": {"t": "t"}}}


@pytest.mark.expected_warnings("cannot be used")
def test_prompts_that_cannot_be_used_cost_no_tool_its_name(path: Path) -> None:
    path.write_text(json.dumps({"version": 1, "names": {"a": {"t": "t"}}, "prompts": 5}))
    assert PublishedNames(path).target("t") == ("a", "t")
    assert json.loads(path.read_text()) == {"version": 1, "names": {"a": {"t": "t"}}}


# servers that were removed


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_a_server_that_was_removed_for_good_had_is_free_at_once(path: Path) -> None:
    names = PublishedNames(path)
    names.publish([("a", "read"), ("a/write", "chosen")])
    names.publish([("a", "ask")], kind="prompts")
    names.free("a")
    assert names.target("read") is None
    assert json.loads(path.read_bytes()) == {"version": 1, "names": {}}
    again = PublishedNames(path)
    assert again.publish([("b", "read"), ("b", "chosen")]) == {("b", "read"): "read", ("b", "chosen"): "chosen"}
    assert again.publish([("b", "ask")], kind="prompts") == {("b", "ask"): "ask"}


def test_the_names_of_all_others_stay(path: Path) -> None:
    names = PublishedNames(path)
    names.publish([("a", "read"), ("b", "read"), ("a2", "write")])
    names.free("a")
    assert names.publish([("b", "read"), ("a2", "write")]) == {("b", "read"): "b_read", ("a2", "write"): "write"}
    assert one(names, "c", "read") == "c_read"  # it meets that of `b`


def test_while_a_removed_server_may_come_back_its_names_are_its_own(path: Path) -> None:
    clock = Clock()
    names = PublishedNames(path, now=clock)
    one(names, "a", "read")
    names.retire(["a"])
    clock.now += RETURNS_WITHIN_S - 1
    assert one(names, "b", "read") == "b_read"
    assert names.is_retired("a")
    names.keep(["b"])  # which never left
    assert names.is_retired("a")
    names.keep(["a", "b"])
    assert not PublishedNames(path, now=clock).is_retired("a")
    clock.now += 100 * RETURNS_WITHIN_S
    assert one(names, "a", "read") == "read"
    assert not names.is_retired("a")


@pytest.mark.parametrize("passed_s", [RETURNS_WITHIN_S, -1.0])
def test_a_removed_server_that_does_not_come_back_loses_them_also_in_the_next_hub(path: Path, passed_s: float) -> None:
    clock = Clock()
    names = PublishedNames(path, now=clock)
    one(names, "a", "read")
    names.retire(["a"])
    clock.now += passed_s
    later = PublishedNames(path, now=clock)
    assert one(later, "b", "read") == "read"
    assert "removed" not in json.loads(path.read_bytes())


def test_a_server_whose_tools_are_listed_has_come_back(path: Path) -> None:
    clock = Clock()
    names = PublishedNames(path, now=clock)
    one(names, "a", "read")
    names.retire(["a"])
    clock.now += RETURNS_WITHIN_S
    assert names.publish([("a", "read"), ("b", "read")]) == {("a", "read"): "read", ("b", "read"): "b_read"}


@pytest.mark.parametrize("removed", [5, {"a": "yesterday"}, None])
def test_what_the_file_says_of_removed_servers_may_be_anything(path: Path, removed: Any) -> None:
    path.write_text(json.dumps({"version": 1, "names": {"a": {"read": "read"}}, "removed": removed}))
    assert one(PublishedNames(path), "a", "read") == "read"


# whole names


LONG = "read_the_first_of_all_chapters_of_a_long_book"


def test_whole_names_are_on_disk_and_for_who_has_room_for_them(path: Path) -> None:
    short = one(PublishedNames(path), "a", LONG)
    PublishedNames(path).publish([("a", LONG)], kind="prompts")
    again = PublishedNames(path)
    assert again.whole(("a", LONG), len(LONG)) == again.whole(("a", LONG), len(LONG), kind="prompts") == LONG
    assert again.whole(("a", LONG), len(LONG) - 1) is None
    assert again.whole(("a", "unknown"), 128) is None
    assert one(again, "b", LONG) != short
    assert again.target(LONG) == again.target(short) == ("a", LONG)
    again.free("a")
    assert PublishedNames(path).target(LONG) is None


def test_a_tool_that_was_named_by_an_earlier_version_gets_a_whole_name_when_it_is_listed(path: Path) -> None:
    path.write_text(json.dumps({"version": 1, "names": {"a": {LONG: "read_the_first_123456"}}}))
    names = PublishedNames(path)
    assert one(names, "a", LONG) == "read_the_first_123456"
    assert json.loads(path.read_bytes())["whole"] == {"a": {LONG: LONG}}


@pytest.mark.expected_warnings("1 of its entries cannot be used")
def test_whole_names_that_cannot_be_used_are_given_anew(path: Path) -> None:
    path.write_text(json.dumps({"version": 1, "names": {"a": {LONG: "read_the_first_123456"}}, "whole": {"a": {LONG: "no name"}}}))
    names = PublishedNames(path)
    one(names, "a", LONG)
    assert names.target(LONG) == ("a", LONG)


def test_a_renamed_server_keeps_the_names_of_its_tools_but_those_that_its_old_name_was_put_before(path: Path) -> None:
    long = "read_the_whole_text_of_a_file_and_count_its_words"
    names = PublishedNames(path)
    names.publish([("a", "read"), ("a", "a_tool"), ("a/x", "chosen"), ("b", "list"), ("a", long)])
    names.publish([("a", "part")], kind="skills")
    met = names.publish([("a", "list")])[("a", "list")]
    short, whole = names.known(("a", long)), names.whole(("a", long), 128)
    assert (met, whole) == ("a_list", long)
    names.rename("a", "new")
    names.save()
    for each in (names, PublishedNames(path)):
        assert [each.target(name) for name in ("read", "a_tool", "chosen", "list")] == [
            *(("new", "read"), ("new", "a_tool"), ("new/x", "chosen"), ("b", "list"))
        ]
        assert (each.known(("new", long)), each.whole(("new", long), 128), each.known(("a", "read"))) == (short, whole, None)
        assert each.known(("new", "part"), kind="skills") == "part"
        assert each.target("a_list") is None
    assert one(names, "new", "list") == "new_list"
