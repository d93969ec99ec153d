"""The AI clients that are tried: how each is run so that it shows its tools, without an account and without the network.

`make test-clients` installs the programs. Each client runs from its start to
its end, as for one prompt in a terminal: the model is on 127.0.0.1, calls one tool, and says what it gave. All other traffic goes to a
proxy that is not there.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import json5
import yaml
from tests.ai_clients.model_protocols import MODEL, Json
from tests.ai_clients.scripted_model import ScriptedModel
from tests.end2end.processes import ROOT, World

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
OWN_NODE = ROOT / ".cache" / "node" / "bin" / "node"
RUN_S = 90.0  # for one run; 1 to 10 s on two cores, several times that while they do other things, too
NO_PROXY = "127.0.0.1,localhost"
NOWHERE = "http://127.0.0.1:9"  # nothing listens there
QUIET = {
    "DO_NOT_TRACK": "1",
    "NO_UPDATE_NOTIFIER": "1",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), NO_PROXY),
    "TERM": "dumb",
}
_LISTED_BY_DROID = re.compile(r"(\S+) \(\[MCP\]")


class RealClient(NamedTuple):
    """
    Attributes:
        id: as in resources/ai-clients.json.
        program: below node_modules.
        arguments: of a run; `{url}` stands for the model's address.
        environ: as `arguments`.
        shown: how it names a tool that it shows the model; `{server}` and `{tool}` stand for the two names.
        file: of its servers, below the home.
        place: the key of its servers in the file.
        as_text: the tools that a run printed; None: the model is shown them, and calls one.
        rewrites: it writes the file of its servers whenever it runs.
    """

    id: str
    program: str
    arguments: tuple[str, ...]
    shown: str
    file: str
    place: str = "mcpServers"
    environ: Mapping[str, str] = {}
    as_text: Callable[[str], set[str]] | None = None
    rewrites: bool = False

    @property
    def command(self) -> str:
        """As people call it."""
        return {"continue": "cn"}.get(self.id, self.id.partition("-")[0])

    @property
    def own_server(self) -> str:
        """The server, and its tool, that stands in its file alone."""
        return f"{self.id.partition('-')[0]}_own"

    def content_of(self, file: bytes) -> dict[str, Any]:
        """What its file holds; its servers by their names."""
        match self.file.rpartition(".")[2]:
            case "toml":
                content = tomllib.loads(file.decode())
            case "yaml":
                content = yaml.safe_load(file)
            case _:
                content = json5.loads(file.decode())
        servers = content[self.place]
        by_name = {each["name"]: each for each in servers} if isinstance(servers, list) else servers
        return {**content, self.place: by_name}

    def servers_in(self, file: bytes) -> dict[str, Any]:
        return dict(self.content_of(file)[self.place])

    def name_of(self, server: str, tool: str) -> str:
        return self.shown.format(server=server, tool=tool)


class Run(NamedTuple):
    """What one run showed.

    Attributes:
        tools: names as the model sees them.
        results: of calls, as JSON texts; a client that lists alone calls nothing.
        words: of the program, for a test that fails.
    """

    tools: set[str]
    results: list[str]
    words: str


def _listed_by_droid(text: str) -> set[str]:
    return set(_LISTED_BY_DROID.findall(text))


CLIENTS = (
    RealClient(
        id="claude-code",
        program="@anthropic-ai/claude-code-linux-x64/claude",
        arguments=("-p", "call it", "--allowedTools", "mcp__tooltray"),
        environ={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "none",
            "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        },
        shown="mcp__{server}__{tool}",
        file=".claude.json",
        rewrites=True,
    ),
    RealClient(
        id="codex",
        program="@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        arguments=(
            *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-c", f"model={MODEL}"),
            *("-c", 'model_provider="local"', "-c", "check_for_update_on_startup=false"),
            *("-c", 'model_providers.local={{name="local",base_url="{url}/v1",wire_api="responses",env_key="LOCAL_KEY"}}'),
            "call it",
        ),
        environ={"LOCAL_KEY": "none"},
        shown="mcp__{server}/{tool}",
        file=".codex/config.toml",
        place="mcp_servers",
    ),
    RealClient(
        id="gemini-cli",
        program=".bin/gemini",
        arguments=("-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "call it"),
        environ={"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        shown="mcp_{server}_{tool}",
        file=".gemini/settings.json",
    ),
    RealClient(
        id="opencode",
        program="opencode-linux-x64/bin/opencode",
        arguments=("run", "-m", f"local/{MODEL}", "call it"),
        environ={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_SHARE": "1",
        },
        shown="{server}_{tool}",
        file=".config/opencode/opencode.json",
        place="mcp",
    ),
    RealClient(
        id="copilot-cli",
        program="@github/copilot-linux-x64/copilot",
        arguments=("-p", "call it", "--allow-all-tools"),
        environ={
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": MODEL,
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        },
        shown="{server}-{tool}",
        file=".copilot/mcp-config.json",
    ),
    RealClient(
        id="cline-cli",
        program="@cline/cli-linux-x64/bin/cline",
        arguments=("-P", "openai-compatible", "call it"),
        environ={"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"},  # else it leaves a daemon
        shown="{server}__{tool}",
        file=".cline/data/settings/cline_mcp_settings.json",
    ),
    RealClient(
        id="qwen-code",
        program=".bin/qwen",
        arguments=("--auth-type", "openai", "--approval-mode", "yolo", "-p", "call it"),
        environ={"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": MODEL, "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"},
        shown="mcp__{server}__{tool}",
        file=".qwen/settings.json",
    ),
    RealClient(
        id="droid",
        program="@factory/cli-linux-x64/bin/droid",
        arguments=("exec", "--list-tools"),
        environ={"FACTORY_DROID_AUTO_UPDATE_ENABLED": "false", "FACTORY_OTEL_ENABLED": "false", "FACTORY_DISABLE_KEYRING": "true"},
        shown="{server}___{tool}",
        file=".factory/mcp.json",
        as_text=_listed_by_droid,
    ),
    RealClient(
        id="continue",
        program=".bin/cn",
        arguments=("--auto", "-p", "call it"),
        environ={"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_METRICS_ENABLED": "0"},
        shown="{tool}",
        file=".continue/config.yaml",
    ),
)


def link_programs(folder: Path) -> None:
    """Makes the programs known by their own names in a folder for PATH, with a Node.js that is new enough.

    Raises:
        AssertionError: one is missing.
    """
    for client in CLIENTS:
        program = MODULES / client.program
        assert program.exists(), f"{program} is missing; `make test-clients` installs it"
        (folder / client.command).symlink_to(program)
    node = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node")
    assert node, "Node.js is missing; `make test-clients` installs it"
    (folder / "node").symlink_to(node)


def write_home(client: RealClient, home: Path, values: Mapping[str, str]) -> None:
    """Writes the files that the client has after some days of use.

    Args:
        values: what stands for `@NAME@` in them, by name.
    """
    source = HERE / "homes" / client.id
    for file in (path for path in source.rglob("*") if path.is_file()):
        text = file.read_text(encoding="utf-8")
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        target = home / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


def run(client: RealClient, world: World, model: ScriptedModel, script: Sequence[tuple[str, Json]]) -> Run:
    """Runs a client to its end, in a folder that is no project. What it has started is ended with it, what it put into TMPDIR is removed.

    Args:
        script: what the model calls, see ScriptedModel.begin.

    Raises:
        AssertionError: it did not end well within RUN_S.
    """
    folder, temporary = world.home / "work", world.home / f"tmp of {client.id}"
    folder.mkdir(exist_ok=True)
    temporary.mkdir()
    model.begin(script)
    own = {name: value.format(url=model.url) for name, value in client.environ.items()}
    command = [client.command, *(each.format(url=model.url) for each in client.arguments)]
    try:
        words = _run_to_the_end(command, {**world.environ, **QUIET, "TMPDIR": str(temporary), **own}, folder)
    finally:
        shutil.rmtree(temporary)
    return Run(client.as_text(words) if client.as_text else set(model.offered), list(model.results), words)


def _run_to_the_end(command: list[str], environ: Mapping[str, str], folder: Path) -> str:
    program = shutil.which(command[0], path=environ["PATH"])
    process = subprocess.Popen(
        [program or command[0], *command[1:]],
        env=dict(environ),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        words, _ = process.communicate(timeout=RUN_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0, f"{command[0]} ended with {process.returncode}:\n{words}"
    return words
