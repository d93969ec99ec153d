"""serve_command.py"""

import pytest

from tooltray.cli.arguments import UsageError, parse
from tooltray.cli.commands import serve_command


def test_the_execution_id_is_the_option_then_the_variable_then_made() -> None:
    environ = {"TOOLTRAY_EXECUTION_ID": "from.the-environment_1"}
    assert parse(["serve", "--execution-id", "mine"], environ).execution_id == "mine"
    assert parse(["serve"], environ).execution_id == "from.the-environment_1"
    made = {parse(["serve"], {}).execution_id for _ in range(2)}
    assert len(made) == 2
    assert all(serve_command.EXECUTION_ID.fullmatch(each) for each in made)


def test_a_bad_execution_id_in_the_environment_is_told_by_its_name() -> None:
    with pytest.raises(UsageError, match="TOOLTRAY_EXECUTION_ID"):
        parse(["serve"], {"TOOLTRAY_EXECUTION_ID": "a b"})


def test_a_hub_that_a_bridge_started_leaves_when_idle_and_one_that_a_person_started_stays() -> None:
    assert parse(["serve", "--started-by-bridge"], {}).idle_exit == 900
    assert parse(["serve", "--started-by-bridge", "--idle-exit", "2.5"], {}).idle_exit == 2.5
    assert parse(["serve"], {}).idle_exit is None
    assert parse(["serve", "--idle-exit", "0"], {}).idle_exit == 0


def test_a_hub_may_be_given_several_configs_and_one_project() -> None:
    args = parse(["serve", "--config", "a.json", "--config", "b.json", "--project", "shop"], {})
    assert (args.config, args.project) == (["a.json", "b.json"], "shop")
    assert (parse(["serve"], {}).config, parse(["serve"], {}).project) == ([], None)


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "--server", "x"],
        ["serve", "--stdio", "--started-by-bridge"],
        ["serve", "--started-by-bridge", "--config", "x"],
        ["serve", "--started-by-bridge", "--project", "x"],
        ["serve", "--config"],
        ["serve", "--execution-id", "two words"],
        ["serve", "--execution-id", "x" * 65],
        ["serve", "--json"],
    ],
)
def test_options_that_do_not_go_together_are_refused(words: list[str]) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(words, {})
    assert refusal.value.usage.startswith("usage: tooltray")
