"""child_environment.py, variable_sources.py: what servers get of a person's environment, from their settings to what is run."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import Shell, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer

from tooltray.foundation.errors import TooltrayError


@pytest.mark.parametrize("again", ["start", "restart"])
async def test_a_person_who_starts_a_failed_server_again_may_have_installed_what_was_missing(tmp_path: Path, again: str) -> None:
    scripted, shell = ScriptedServer(), Shell()
    async with hub_parts(tmp_path, servers={"s": entry("program")}, programs={"program": scripted}, shell=shell) as parts:
        scripted.handlers["initialize"] = lambda copy, params: copy.die("no node here", exit_code=127)
        with pytest.raises(TooltrayError):
            await parts.servers.start("s")
        assert shell.expired == 0
        del scripted.handlers["initialize"]
        await getattr(parts.servers, again)("s")
        await parts.servers.restart("s")
        assert shell.expired == 1


@pytest.mark.posix
@pytest.mark.parametrize(
    ("persons", "own", "seen"),
    [
        ({"PATH": "/bin"}, {"PATH": "/opt/x"}, {"PATH": "/opt/x:/bin"}),
        ({"PATH": "/bin"}, {"PATH": "/opt/x:${PATH}"}, {"PATH": "/opt/x:/bin"}),
        ({"PATH": "/bin", "https_proxy": "http://p"}, {}, {"PATH": "/bin", "https_proxy": "http://p", "HTTPS_PROXY": "http://p"}),
    ],
)
async def test_a_server_and_the_doctor_have_the_same_environment(tmp_path: Path, persons: Any, own: Any, seen: Any) -> None:
    servers = {"s": entry("program", env=own)}
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer()}, shell=Shell(**persons)) as parts:
        await parts.servers.start("s")
        assert parts.launches[0].env == seen
        [found] = await parts.presenter.diagnose("s")
        assert found.path == seen["PATH"]
