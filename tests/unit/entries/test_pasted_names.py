"""entries/pasted_names.py: what test_pasted.py does not show by whole texts."""

import pytest

from tooltray.entries.pasted_names import guess_name


@pytest.mark.parametrize("words", [["sudo"], [""]])
def test_a_command_that_names_nothing_is_called_server(words: list[str]) -> None:
    assert guess_name(words) == "server"
