"""What a client bears is known by its name, and the usual limits hold for all others."""

from pathlib import Path

import pytest

from tooltray.foundation.programs import resource
from tooltray.protocol.sessions.client_limits import DEFAULT_LIMITS, KnownLimits, read_client_limits


@pytest.fixture(scope="module")
def shipped() -> KnownLimits:
    return read_client_limits(resource("client-profiles.json"))


@pytest.mark.parametrize(
    ("name", "tool_name", "call_s", "is_reset"),
    [
        ("claude-code", 113, 100_000.0, None),
        ("CLAUDE-CODE", 113, 100_000.0, None),
        ("visual studio code", 46, 60.0, None),
        ("qwen-cli-mcp-client-files", 46, 600.0, None),
        ("opencode", 55, 60.0, True),
        ("a client of one's own", 46, 60.0, None),
        ("", 46, 60.0, None),
    ],
)
def test_a_clients_limits_are_known_by_its_name_whatever_the_case(
    shipped: KnownLimits, name: str, tool_name: int, call_s: float, is_reset: bool | None
) -> None:
    limits = shipped.limits_of(name)

    assert (limits.tool_name, limits.call_s, limits.is_reset_by_progress) == (tool_name, call_s, is_reset)


def test_where_no_table_is_the_usual_limits_hold() -> None:
    assert KnownLimits().limits_of("claude-code") == DEFAULT_LIMITS


def test_a_table_that_is_none_is_no_installation(tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text('{"clients": [{"names": ["x"], "callLimit": "long"}]}')

    with pytest.raises(ValueError, match="callLimit"):
        read_client_limits(tmp_path / "table.json")
