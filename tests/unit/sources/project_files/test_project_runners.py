"""project_runners.py: what of a project decides what runs."""

import os
from pathlib import Path

import pytest

from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.phrases import Phrase
from tooltray.sources.project_files.project_runners import run_of_project


def told(folder: Path, line: str, **fields: object) -> str:
    command, *args = line.split()
    return run_of_project(read_entry("one", {"command": command, "args": args, **fields}), str(folder))


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("npm run server", "package.json"),
        ("NPM.CMD start", "package.json"),
        ("npm x evil run", ""),
        ("npm exec -- some-server", ""),
        ("npm --unknown exec run", "package.json"),
        ("npm --prefix /elsewhere run server", ""),
        ("npm --prefix=sub run server", "package.json"),
        ("pnpm dlx some-server .", ""),
        ("/usr/bin/make server", "Makefile"),
        ("make -C /elsewhere server", ""),
        ("make -f", "Makefile"),
        ("poetry run server -C /elsewhere", "pyproject.toml"),
        ("uv run server", "pyproject.toml"),
        ("uv run server --directory /elsewhere", "pyproject.toml"),
        ("uv run --directory /elsewhere server", ""),
        ("uv --directory=/elsewhere run server", ""),
        ("uv run --no-project server", ""),
        ("uv tool run server", ""),
        ("uvx run", ""),
        ("go run ./cmd/server", "go.mod"),
        ("go run example.com/server@v1.2.3 .", ""),
        ("go build", "go.mod"),
        ("bun run dev", "package.json"),
        ("bun dev", "package.json"),
        ("bun x some-server .", ""),
        pytest.param("bun run /elsewhere/server.ts", "", marks=pytest.mark.posix),
        pytest.param("bun /elsewhere/server.ts run", "", marks=pytest.mark.posix),
        ("bun", ""),
        ("deno task serve", "deno.json"),
        ("deno run -A npm:some-server task", ""),
        ("dotnet run", "*.csproj"),
        ("dotnet /elsewhere/server.dll run", ""),
        ("node --run serve", "package.json"),
        ("npx -y some-server run .", ""),
        ("some-server run . -m x", ""),
    ],
)
def test_what_a_runner_runs_stands_in_a_file_of_the_project_or_it_is_not_said_to(tmp_path: Path, line: str, file: str) -> None:
    (tmp_path / "sub").mkdir()
    said = told(tmp_path, line)
    assert said.partition(" stands in the files of the project, as in ")[2].partition(":")[0] == file
    assert bool(said) is bool(file)
    assert isinstance(said, Phrase) is bool(file)


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("node .", "."),
        ("node --watch .", "."),
        ("node --no-warnings --title shop sub", "sub"),
        ("node inspect .", "."),
        ("node --test", "."),
        ("node -- sub", "sub"),
        ("node ${CLAUDE_PROJECT_DIR}/sub", "${CLAUDE_PROJECT_DIR}/sub"),
        ("node /elsewhere/server.js .", ""),
        ("node --enable-source-maps /elsewhere/server.js .", ""),
        ("node --require /elsewhere/x.js /elsewhere/server.js .", ""),
        ("node -e 1 .", ""),
        ("node ..", ""),
        ("python3 .", "."),
        ("python3.12 -u sub", "sub"),
        ("python /elsewhere/server.py .", ""),
        ("python -uB /elsewhere/server.py . -m x", ""),
        ("python -c pass .", ""),
        ("bun run sub", "sub"),
        ("bun .", "."),
    ],
)
def test_a_folder_of_the_project_that_is_run_is_named_and_one_that_is_an_argument_of_a_script_is_not(
    tmp_path: Path, line: str, folder: str
) -> None:
    (tmp_path / "sub").mkdir()
    said = told(tmp_path, line)
    assert said.partition(" runs the folder '")[2].partition("' of the project: ")[0] == folder
    assert bool(said) is bool(folder)


def test_a_folder_of_the_project_is_seen_from_elsewhere_too(tmp_path: Path) -> None:
    assert f"runs the folder '{tmp_path}'" in told(tmp_path, f"node {tmp_path}", cwd="/")
    assert told(tmp_path, f"some-server {tmp_path}", cwd="/") == ""
    assert told(tmp_path, "npm start", cwd="/") == ""
    assert told(tmp_path, "npm start", cwd="${CLAUDE_PROJECT_DIR}/sub") != ""
    assert "package.json" in told(tmp_path, f"npm --prefix {tmp_path} start", cwd="/")


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("python3.12 -m server", "server"),
        ("python -um server", "server"),
        ("python -mserver", "server"),
        ("python -W ignore -m server .", "server"),
        ("python -I -m server", ""),
        ("python -Im server", ""),
        ("python3 -c pass -m server", ""),
    ],
)
def test_a_module_is_looked_for_in_the_project_first_unless_python_is_told_not_to(tmp_path: Path, line: str, module: str) -> None:
    said = told(tmp_path, line)
    assert said.partition(" looks for ")[2].partition(" in the project first")[0] == module
    assert bool(said) is bool(module)


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("npx -y x", ".npmrc"),
        ("npm exec x", ".npmrc"),
        ("bunx x", "bunfig.toml"),
        ("bun x x", "bunfig.toml"),
        pytest.param("bun /elsewhere/server.ts", "bunfig.toml", marks=pytest.mark.posix),
        ("uvx x", "uv.toml"),
        ("uv tool run x", "uv.toml"),
        ("deno run npm:x", "deno.json"),
    ],
)
def test_a_file_at_which_a_runner_looks_is_named_where_there_is_one(tmp_path: Path, line: str, file: str) -> None:
    assert told(tmp_path, line) == ""
    (tmp_path / file).touch()
    assert f" looks at {file} of the project for what it runs" in told(tmp_path, line)


def test_a_file_of_the_project_that_bun_runs_is_marked_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "server.ts").touch()
    assert told(tmp_path, "bun server.ts") == ""


def test_a_template_counts_as_the_arguments_do(tmp_path: Path) -> None:
    entry = {"deferredStartup": True, "startupArgsTemplate": ["."]}
    assert "runs the folder '.'" in told(tmp_path, "node /elsewhere/server.js", **entry)


def test_what_no_disk_can_have_runs_nothing(tmp_path: Path) -> None:
    config = read_entry("one", {"command": "node", "args": ["."]})
    assert run_of_project(config.model_copy(update={"cwd": "a\0b"}), str(tmp_path)) == ""
    assert run_of_project(config.model_copy(update={"args": ("a\0b",)}), str(tmp_path)) == ""
    assert "Makefile" in run_of_project(config.model_copy(update={"command": "make", "args": ("-C", "a\0b")}), str(tmp_path))


@pytest.mark.posix
def test_a_link_that_leads_into_the_project_is_followed(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    os.symlink(tmp_path / "shop", tmp_path / "link")
    assert "runs the folder" in told(tmp_path / "shop", f"node {tmp_path}/link", cwd="/")
