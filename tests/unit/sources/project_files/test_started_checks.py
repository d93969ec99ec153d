"""A server of a project's own file starts only with the files that a person allowed, and asks again with the difference."""

import json
from pathlib import Path

import pytest
from tests.fakes.file_hub import FileHub, file_hub

from tooltray.config.settings.file_server import FileServer
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.servers.launch.program_launch import CannotStart

ENTRY = {"command": "program", "args": ["srv.py"]}


async def allowed(hub: FileHub) -> tuple[str, Path]:
    """A project with a server that a person said yes to, and the file that it starts."""
    folder = hub.project(one=ENTRY)
    file = Path(folder) / "srv.py"
    file.write_text("first\n")
    await hub.session(folder)
    assert await hub.trusted(folder) == ["one"]
    return folder, file


def server(hub: FileHub) -> FileServer:
    found = hub.parts.conf.file_server("one")
    assert found is not None
    return found


def kept(hub: FileHub) -> dict[str, object]:
    found: dict[str, object] = next(iter(json.loads(hub.parts.home.trust.read_text())["projects"].values()))["one"]
    return found


async def test_a_file_that_has_changed_asks_again_with_the_difference_and_starts_after_the_yes(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder, file = await allowed(hub)
        await hub.parts.project_servers.check_started(server(hub))
        file.write_text("second\n")
        with pytest.raises(CannotStart, match=r"what it starts has changed since you allowed it: srv\.py"):
            await hub.parts.project_servers.check_started(server(hub))
        assert hub.states(folder) == {"one": "changed"}
        [request] = await hub.project_servers.trust_requests(folder)
        assert (request.is_change, request.diff) == (True, (" srv.py:", "-first", "+second"))
        assert request.files[0].startswith("srv.py (")
        file.write_text("third\n")  # while the person looks
        with pytest.raises(Conflict, match="another one by now"):
            await hub.project_servers.trust(folder, {"one": request.digest})
        [request] = await hub.project_servers.trust_requests(folder)
        assert await hub.project_servers.trust(folder, {"one": request.digest}) == ["one"]
        assert hub.states(folder) == {"one": "used"}
        await hub.parts.project_servers.check_started(server(hub))


async def test_a_change_is_told_before_the_server_is_started_where_a_person_looks(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder, file = await allowed(hub)
        assert await hub.project_servers.trust_requests(folder) == []
        file.unlink()
        [request] = await hub.project_servers.trust_requests(folder)
        assert request.diff == (" srv.py:", "-" + request.diff[1][1:], "+not there")


async def test_the_server_itself_does_not_start_with_another_file(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        _, file = await allowed(hub)
        await hub.parts.presenter.stop_server("one")
        file.write_text("second\n")
        launches = len(hub.parts.launches)
        with pytest.raises(TooltrayError, match="waits for your yes"):
            await hub.parts.presenter.restart_server("one")
        assert len(hub.parts.launches) == launches


async def test_a_consent_of_before_takes_the_files_as_they_are(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder, file = await allowed(hub)
        trust = hub.parts.trust
        await trust.allow(folder, {"one": trust.digest(folder, "one")})
        assert kept(hub)["files"] is None
        path = hub.parts.home.trust
        path.rename(path.with_suffix(".aside"))
        path.mkdir()  # so that nothing can be written there
        await hub.parts.project_servers.check_started(server(hub))
        path.rmdir()
        path.with_suffix(".aside").rename(path)
        assert kept(hub)["files"] is None
        await hub.parts.project_servers.check_started(server(hub))
        assert list(kept(hub)["files"]) == ["srv.py"]  # type: ignore[call-overload]
        file.write_text("second\n")
        with pytest.raises(CannotStart):
            await hub.parts.project_servers.check_started(server(hub))
        await hub.project_servers.distrust(folder, "one")
        await trust.keep_files(folder, "one", {})  # of what is trusted no more nothing is noted
        assert trust.files(folder, "one") is None


async def test_many_changed_files_are_named_as_far_as_one_reads(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        names = [f"f{number}.py" for number in range(5)]
        folder = hub.project(one={"command": "program", "args": names})
        await hub.session(folder)
        for name in names:
            (Path(folder) / name).write_text("first")
        await hub.trusted(folder)
        for name in names:
            (Path(folder) / name).write_text("second")
        with pytest.raises(CannotStart, match=r"f0\.py, f1\.py, f2\.py, …"):
            await hub.parts.project_servers.check_started(server(hub))


async def test_a_server_of_another_file_than_a_project_s_own_is_not_looked_at(tmp_path: Path) -> None:
    config = tmp_path / "served.json"
    config.write_text(json.dumps({"mcpProxy": {}, "mcpServers": {"one": ENTRY}}))
    async with file_hub(tmp_path, configs=[str(config)]) as hub:
        await hub.parts.project_servers.check_started(server(hub))
