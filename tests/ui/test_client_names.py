"""AI clients are called by the names that users know."""

import pytest

from tooltray.ui.client_names import shown_client


@pytest.mark.parametrize(
    ("name", "shown"),
    [("claude-code", "Claude Code"), ("cursor-vscode", "Cursor"), ("my-agent", "my-agent"), ("", ""), ("claude-code\n", "claude-code\n")],
)
def test_a_known_client_has_its_product_s_name_and_another_its_own(name: str, shown: str) -> None:
    assert shown_client(name) == shown
