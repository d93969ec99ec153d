"""The guide docs/contributing/extending.md, followed: a copy of the product gets a new type of server, format and rule, and uses them; a
package with a server of the SDK is installed, and runs inside.

What the guide lets one write is in extension_guide/. Where a step here has to change, the guide has to change with it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory  # its paths are short: a home with too long a path has a folder for its socket outside
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WRITTEN = Path(__file__).parent / "extension_guide"
UNMEASURED = {"COVERAGE_PROCESS_CONFIG": ""}  # the copy is gone when coverage would look for its files
BOUND_S = 240.0

VERBS = '''
    @verb("read")
    async def mcp_tools_to_plain_tools(self, server: str | None = None) -> list[JsonObject]:
        """All tools that AI clients see, in plain words; `server`: this one's only."""
        return await self._tools_in("plain", server)

    @verb("call")
    async def plain_call_to_mcp_tool(self, call: JsonObject) -> MCPToolCall:
        """A call in plain words, as it goes to `run_tool_call`."""
        return await self._call_of("plain", call)

    @verb("call")
    async def mcp_response_to_plain(self, response: MCPToolResponse) -> JsonObject:
        """What `run_tool_call` gave, in plain words."""
        return await self._response_in("plain", response)
'''
FORMATS_TESTED = (
    "tests/unit/catalogue/formats",
    "tests/unit/carriers/rest/test_operations.py",
    "tests/unit/carriers/rest/test_operations.py",
    "tests/unit/carriers/control/test_control_client.py",
    "tests/contract/test_verbs.py",
)
"""What the guide's recipe for a format must leave green."""


class Copy:
    """A copy of the source, to be worked on as the guide says."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "desktop"
        shutil.copytree(ROOT / "desktop", self.source, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "resources", folder / "resources")
        self._package = self.source / "tooltray"

    def write(self, name: str, place: str) -> None:
        shutil.copy(WRITTEN / name, self._package / place / name)

    def append(self, path: str, text: str) -> None:
        with (self._package / path).open("a") as file:
            file.write(text)

    def insert(self, path: str, line: str, new: str, *, before: bool = False) -> None:
        """A new line behind (or before) the one that begins like `line`, of which there must be one."""
        file = self._package / path
        lines = file.read_text().split("\n")
        (place,) = [number for number, each in enumerate(lines) if each.startswith(line)]
        lines.insert(place if before else place + 1, new)
        file.write_text("\n".join(lines))

    def remove(self, path: str, line: str) -> None:
        """Removes the line that begins so, of which there must be one."""
        file = self._package / path
        lines = file.read_text().split("\n")
        (place,) = [number for number, each in enumerate(lines) if each.startswith(line)]
        del lines[place]
        file.write_text("\n".join(lines))

    def replace(self, path: str, old: str, new: str) -> None:
        """A part of a line, of which there must be one."""
        file = self._package / path
        text = file.read_text()
        assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
        file.write_text(text.replace(old, new))

    def run(self, program: Path, *arguments: str) -> Any:
        return json.loads(self.output(str(program), *arguments))

    def output(self, *arguments: str) -> str:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.source), str(ROOT)]), **UNMEASURED}
        command = [sys.executable, *arguments]
        ended = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=BOUND_S, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout


def add_server_type(copy: Copy) -> None:
    """A new type of server."""
    copy.write("unix_transport.py", "servers/transports")
    copy.insert("servers/transports/transport_table.py", "TRANSPORTS:", '    "unix": TransportKind(make_unix),')
    copy.insert(
        "servers/transports/transport_table.py",
        "from tooltray.servers.transports.transport import",
        "from tooltray.servers.transports.unix_transport import make_unix",
    )
    copy.replace("config/settings/server_config.py", 'Transport = Literal["stdio", ', 'Transport = Literal["unix", "stdio", ')
    copy.insert("config/settings/server_config.py", "    direct_start: bool", "    socket: Target = None")
    copy.insert("config/settings/server_config.py", "    return json.dumps(parts", "    parts += (config.socket,)", before=True)
    copy.replace(
        "config/settings/server_config.py", 'return shown_url(self.base_url or "")', 'return self.socket or shown_url(self.base_url or "")'
    )


def add_format(copy: Copy) -> None:
    """A new tool format."""
    copy.write("plain.py", "catalogue/formats")
    copy.insert("catalogue/formats/__init__.py", "    for each in (", "        Plain(),")
    copy.insert(
        "catalogue/formats/__init__.py", "from tooltray.catalogue.formats.openai", "from tooltray.catalogue.formats.plain import Plain"
    )
    copy.append("catalogue/formats/api.py", VERBS)
    scripts = copy.source.parent / "scripts"
    scripts.mkdir()
    shutil.copy(ROOT / "scripts" / "verb_table.py", scripts)
    copy.output(str(scripts / "verb_table.py"))


def add_rule(copy: Copy) -> None:
    """A new approval rule."""
    copy.insert("catalogue/auto_approve.py", "RULES: Mapping", '    "ends:": lambda tool, ending: tool.name.endswith(ending),')


def test_what_the_guide_adds_works_through_a_hub(tmp_path: Path, home: Path) -> None:
    copy = Copy(tmp_path)
    add_server_type(copy)
    add_format(copy)
    add_rule(copy)
    seen = copy.run(WRITTEN / "program.py", str(home))
    assert [tool["takes"] for tool in seen["tools"]] == [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"text": {"type": "string"}}},
    ]
    names = [tool["tool"] for tool in seen["tools"]]
    assert names[0] == "drop_it"
    assert len(names[1]) <= 10
    assert seen["call"] == ["say_it_loudly", {"text": "hello"}]
    assert seen["response"] == {"tool": names[1], "said": "HELLO"}
    assert seen["approved"] == {"drop_it": False, "say_it_loudly": True}
    assert seen["notices"] == []
    assert seen["targets"]["thing"] == ["unix", str(home / "thing.sock")]
    assert "thing.sock2" in seen["gone"]
    assert seen["empty"] == "it has no socket"


def test_the_recipe_for_a_format_leaves_style_and_tests_green(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    add_format(copy)
    files = [str(copy.source / "tooltray" / "catalogue" / "formats")]
    style = ("--config", str(ROOT / "pyproject.toml"), "--no-cache")
    copy.output("-m", "ruff", "check", *style, *files)
    copy.output("-m", "ruff", "format", "--check", *style, *files)
    where = copy.output("-c", "import tooltray; print(tooltray.__file__)")
    assert where.startswith(str(copy.source))
    with TemporaryDirectory() as short:
        copy.output("-m", "pytest", "-q", "-o", "pythonpath=", "-p", "no:cacheprovider", "--basetemp", short, *FORMATS_TESTED)


def test_a_server_in_a_package_of_its_own_runs_inside_the_hub(tmp_path: Path, home: Path) -> None:
    installed = tmp_path / "installed"
    install_wheel(WRITTEN / "notes", installed)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "desktop"), str(ROOT), str(installed)])}
    command = [sys.executable, str(WRITTEN / "inside.py"), str(home)]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == {
        "listed": [["notes", "notes-server", "0.1", "Notes, inside Tooltray"]],
        "careful": ["it runs inside Tooltray and can read every secret", "all its calls would run without asking"],
        "was_imported": False,
        "tools": ["keep"],
        "kept": {"result": 2},
    }


def install_wheel(source: Path, folder: Path) -> None:
    """Puts into a folder what an installer would unpack of the package's wheel: its module, and what describes it."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    about = {"Metadata-Version": "2.1", "Name": project["name"], "Version": project["version"], "Summary": project["description"]}
    (info / "METADATA").write_text("".join(f"{key}: {value}\n" for key, value in about.items()))
    groups = project["entry-points"].items()
    points = "".join(f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in each.items()) for group, each in groups)
    (info / "entry_points.txt").write_text(points)
    shutil.copy(source / "notes_server.py", folder)


@pytest.mark.parametrize("section", ["A new server type", "A new tool format", "A new approval rule", "A server inside Tooltray"])
def test_the_guide_names_files_and_things_that_exist(section: str) -> None:
    guide = (ROOT / "docs" / "contributing" / "extending.md").read_text()
    text = guide.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    paths = re.findall(r"`((?:tests|tooltray)/[\w./]+)`", text)
    assert paths, f"the guide has no section '{section}' that names files"
    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "desktop" / path).exists() or (WRITTEN / Path(path).name).exists(), path
