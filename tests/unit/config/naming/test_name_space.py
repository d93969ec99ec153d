"""name_space.py: whole names beside short ones; what short ones look like is in test_published_names.py"""

import pytest

from tooltray.config.naming.name_space import HARD_MAX_LENGTH, MAX_LENGTH, WHOLE_MAX_LENGTH, NameSpace, Naming, has_prefix
from tooltray.config.naming.tool_settings import Tool

LONG = "read_the_first_of_all_chapters_of_a_long_book"
NINE = "server_no"


def named(*tools: Tool, naming: Naming = "conflict") -> NameSpace:
    space = NameSpace("tool")
    give(space, *tools, naming=naming)
    return space


def give(space: NameSpace, *tools: Tool, naming: Naming = "conflict") -> None:
    space.give([tool for tool in tools if tool not in space.names], naming)
    space.give_whole(tools, naming)


def test_a_name_that_had_to_be_shortened_leads_to_its_tool_whole_too() -> None:
    space = named(("a", LONG), ("a", "short"))
    assert space.whole == {("a", LONG): LONG}
    assert len(space.names["a", LONG]) <= MAX_LENGTH
    assert space.targets[LONG] == space.targets[space.names["a", LONG]] == ("a", LONG)


def test_what_clients_could_merge_has_its_servers_name_before_it_whole_too() -> None:
    other = LONG.upper().replace("_", "-")
    space = named(("a", LONG), ("b", other))
    assert space.whole == {("a", LONG): f"a_{LONG}", ("b", other): f"b_{other}"}


def test_who_comes_later_gets_the_prefix_alone_and_a_third_one_too() -> None:
    space = named(("a", LONG))
    give(space, ("b", LONG))
    assert space.whole == {("a", LONG): LONG, ("b", LONG): f"b_{LONG}"}
    both = named(("a", LONG), ("b", LONG))
    give(both, ("c", LONG))
    assert both.whole["c", LONG] == f"c_{LONG}"


def test_a_prefix_that_makes_a_name_too_long_is_in_the_whole_one() -> None:
    own = "t" * (MAX_LENGTH - 5)
    space = named((NINE, own), ("other", own))
    assert space.whole == {(NINE, own): f"{NINE}_{own}", ("other", own): f"other_{own}"}
    assert named((NINE, LONG), naming="always").whole == {(NINE, LONG): f"{NINE}_{LONG}"}


def test_what_is_too_long_for_the_protocol_or_meets_another_whole_name_stays_short() -> None:
    endless, taken = "t" * (WHOLE_MAX_LENGTH + 1), f"a_{LONG}"
    assert named(("a", endless)).whole == {}
    space = named(("x", taken), ("a", LONG), ("b", LONG))
    assert space.whole == {("x", taken): taken, ("b", LONG): f"b_{LONG}"}


def test_a_whole_name_that_is_given_is_given_once() -> None:
    space = named(("a", LONG))
    assert not space.give_whole([("a", LONG)], "conflict")
    assert not space.give_whole([("a", LONG)], "always")


@pytest.mark.parametrize("name", [5, "with space", "t" * (WHOLE_MAX_LENGTH + 1), LONG.upper()])
def test_whole_names_that_keep_no_promise_are_not_taken_over(name: object) -> None:
    space = named(("a", LONG))
    give(space, ("b", "short"))
    assert not space.take_over_whole("b", "short", name)
    assert not space.take_over_whole("nobody", "x", "free")
    assert space.take_over_whole("b", "short", "t" * (HARD_MAX_LENGTH + 1))


def test_a_name_with_its_server_before_it_is_known_however_a_client_writes_it() -> None:
    assert all(has_prefix(name, "my server") for name in ("my_server_read", "MY-SERVER-x"))
    assert not any(has_prefix(name, "my server") for name in ("my_server", "read_my_server_", "my server_x"))


def test_whole_names_of_what_is_gone_are_free() -> None:
    space = named(("a", LONG), ("b", f"{LONG}s")).without(lambda tool: tool[0] == "a")
    assert space.whole == {("b", f"{LONG}s"): f"{LONG}s"}
    give(space, ("c", LONG))
    assert space.whole["c", LONG] == LONG
    space.clear()
    assert not space.whole
    assert not space.targets
