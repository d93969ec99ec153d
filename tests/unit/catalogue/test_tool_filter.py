"""catalogue/tool_filter.py"""

from dataclasses import dataclass

import pytest

from tooltray.catalogue.tool_filter import enabled, is_enabled

NAMES = ["read", "write", "list"]


@dataclass
class Filter:
    mode: str
    list: tuple[str, ...]


@dataclass
class Config:
    tool_filter: Filter | None = None
    disabled_tools: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (Config(), NAMES),
        (Config(Filter("allow", ("list", "read", "unknown"))), ["read", "list"]),
        (Config(Filter("allow", ())), []),
        (Config(Filter("block", ("read",))), ["write", "list"]),
        (Config(Filter("block", ())), NAMES),
        (Config(disabled_tools=("write",)), ["read", "list"]),
        (Config(Filter("allow", ("read", "write")), disabled_tools=("write",)), ["read"]),
        (Config(Filter("block", ("read",)), disabled_tools=("write",)), ["list"]),
    ],
)
def test_filter_and_disabled_tools_decide_together_and_keep_the_servers_order(config: Config, expected: list[str]) -> None:
    assert enabled(NAMES, config) == expected
    assert [name for name in NAMES if is_enabled(name, config)] == expected


def test_a_name_counts_only_as_a_whole_and_in_its_own_case() -> None:
    config = Config(Filter("allow", ("read",)))
    assert enabled(["read_file", "Read", "rea", "read"], config) == ["read"]
