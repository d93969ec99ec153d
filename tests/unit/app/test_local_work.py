"""What the pages of the window do without the hub."""

import pytest

from tooltray.app.local_work import local_work
from tooltray.foundation.errors import TooltrayError
from tooltray.ui.kit.window_memory import WindowMemory


def test_pages_read_what_is_pasted_and_typed_without_a_hub() -> None:
    memory = WindowMemory()
    local = local_work(memory)
    assert local.memory is memory
    [pasted] = local.read_pasted('{"mine": {"command": "program"}}')
    assert (pasted.name, pasted.config["command"]) == ("mine", "program")
    with pytest.raises(TooltrayError):
        local.read_pasted("")
    assert local.find_secrets("API_TOKEN=0123456789abcdef") == [(10, 26)]
    assert local.read_entry('{"command": "program"}').slips == ()
    entry, secrets = local.move_secrets("mine", {"command": "p", "env": {"API_TOKEN": "0123456789abcdef"}}, {})
    assert (entry["command"], list(secrets.values())) == ("p", ["0123456789abcdef"])
