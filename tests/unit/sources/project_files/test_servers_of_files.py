"""How servers run whose entries stand in other files: where, with which variables, and when they are another program."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import SHOP, TOOLS_FOLDER, file_server
from tests.fakes.hub_parts import HubParts, Shell, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.config.settings.file_server import FileServer
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.session_state import SessionState

SECRET = "hunter2-is-a-secret"


@contextlib.asynccontextmanager
async def files(root: Path, shell: Shell | None = None, **servers: FileServer) -> AsyncIterator[HubParts]:
    program = ScriptedServer(tool("query"))
    programs = dict.fromkeys(("db", f"{root}/bin/db", "plain"), program)
    async with hub_parts(root, servers={"plain": entry("plain")}, programs=programs, shell=shell, is_live=False) as parts:
        parts.conf.set_file_servers(servers)
        yield parts


async def test_a_projects_server_runs_in_its_folder_and_knows_it(tmp_path: Path) -> None:
    async with files(tmp_path, db=file_server("db", folder=str(tmp_path))) as parts:
        await parts.servers.start("db")
        (launch,) = parts.launches
        assert (launch.cwd, launch.env["CLAUDE_PROJECT_DIR"]) == (str(tmp_path), str(tmp_path))
        await parts.servers.start("plain")
        assert parts.launches[1].cwd == str(parts.person)
        assert "CLAUDE_PROJECT_DIR" not in parts.launches[1].env


@pytest.mark.posix
async def test_its_paths_are_taken_from_there(tmp_path: Path) -> None:
    async with files(tmp_path, db=file_server("bin/db", folder=str(tmp_path), cwd="sub")) as parts:
        await parts.servers.start("db")
        assert (parts.launches[0].command, parts.launches[0].cwd) == (f"{tmp_path}/bin/db", f"{tmp_path}/sub")


async def test_its_placeholders_find_the_files_variables_before_the_persons(tmp_path: Path) -> None:
    server = file_server("db", folder=str(tmp_path), variables={"A": "file"}, args=["${A}", "${B}"])
    async with files(tmp_path, Shell(A="person", B="person"), db=server) as parts:
        await parts.servers.start("db")
        assert parts.launches[0].args == ("file", "person")
        assert parts.launches[0].env["A"] == "person"


async def test_the_same_entry_in_another_folder_is_another_program(tmp_path: Path) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    async with files(tmp_path, a=file_server("db", folder=one), b=file_server("db", folder=other)) as parts:
        a, b = parts.servers.get("a"), parts.servers.get("b")
        assert a.config_hash != b.config_hash
        await parts.servers.start("a")
        parts.conf.set_file_servers({"a": file_server("db", folder=other)})
        await parts.servers.get("a").running(Era.LEGACY, timeout_s=10)
        assert [launch.cwd for launch in parts.launches] == [one, other]


async def test_a_change_that_runs_nothing_anew_counts_from_the_next_start_on(tmp_path: Path) -> None:
    def with_value(value: str) -> dict[str, FileServer]:
        return {"db": file_server("db", folder=str(tmp_path), variables={"V": value}, args=["${V}"])}

    async with files(tmp_path, None, **with_value("1")) as parts:
        await parts.servers.start("db")
        parts.conf.set_file_servers(with_value("2"))
        assert len(parts.launches) == 1
        await parts.servers.restart("db")
        assert [launch.args for launch in parts.launches] == [("1",), ("2",)]


@pytest.mark.posix
async def test_a_projects_server_that_waits_for_a_project_runs_in_the_files_folder_too(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"deferredStartup": True, "startupArgsTemplate": ["{project_path}"]}
    async with files(tmp_path, db=file_server("db", folder=str(tmp_path), **fields)) as parts:
        work = tmp_path / "work"
        work.mkdir()
        client = parts.client()
        client.state = SessionState("s1", projects={"feedback": SessionProject(str(work), "work", "feedback")})
        await parts.servers.get("db").running(Era.LEGACY, timeout_s=10, session=client)
        assert (parts.launches[0].args, parts.launches[0].cwd) == ((str(work),), str(tmp_path))
        parts.conf.set_file_servers({"db": file_server("db", folder=str(tmp_path), descriptions="new", **fields)})
        assert parts.servers.get("db").file == parts.conf.file_server("db")


@pytest.mark.posix
async def test_the_doctor_looks_where_it_would_be_started(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "db"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    server = file_server("bin/db", folder=str(tmp_path))
    async with files(tmp_path, db=server, lint=file_server("gone/lint", folder=str(tmp_path))) as parts:
        found, missing = await parts.presenter.diagnose("db"), await parts.presenter.diagnose("lint")
        assert (found[0].resolved_command, found[0].cwd) == (str(program), str(tmp_path))
        assert missing[0].searched == (f"{tmp_path}/gone",)


async def test_servers_of_projects_stay_theirs_while_settings_change(tmp_path: Path) -> None:
    async with files(tmp_path, db=file_server("db", project=SHOP, folder=str(tmp_path))) as parts:
        await parts.conf.set_enabled(False)
        client = parts.client()
        assert not parts.servers.sees(client.state, "db")
        client.state.projects["folder"] = SessionProject(TOOLS_FOLDER, "tools", "folder")
        assert not parts.servers.sees(client.state, "db")
        assert not parts.servers.is_for_all("db")
