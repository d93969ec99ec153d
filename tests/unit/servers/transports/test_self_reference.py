"""Entries that lead back to this hub are recognised by what is certain, and others are not mistaken for them."""

import shlex

import pytest

from tooltray.servers.transports.transports import leads_back, refusal, url_leads_back


def split(line: str) -> tuple[str, list[str]]:
    command, *args = shlex.split(line)
    return command, args


@pytest.mark.parametrize(
    "line",
    [
        "tooltray serve --stdio",
        "tooltray-bridge",
        "tooltray_bridge",
        "/home/me/.local/bin/tooltray-bridge --server x",
        "tooltray-bridge.exe",
        "npx -y tooltray",
        "npx tooltray@latest",
        "uvx tooltray",
        "/usr/bin/uvx tooltray==1.2",
        "uvx --from tooltray tooltray-bridge",
        "uv tool run tooltray",
        "uv run tooltray serve",
        "pipx run tooltray",
        "npm exec tooltray",
        "python3 -m tooltray serve",
        "/opt/venv/bin/python3.11 -I -m tooltray_bridge",
        "python -m tooltray.cli",
        "uv run python -m tooltray_bridge",
        "/usr/bin/python3 -I -S /opt/tooltray/desktop/tooltray_bridge/__main__.py",
        "python3 -I -S tooltray_bridge/hot.py",
        "env tooltray serve",
        "env HOME=/tmp A=b -i tooltray",
        "env A=b python3 -m tooltray",
        "/usr/bin/env -u PYTHONPATH -C /tmp A=b tooltray",
        'sh -c "tooltray serve --stdio"',
        "bash -c 'exec tooltray-bridge'",
        "/bin/zsh -l -c 'python3 -m tooltray_bridge'",
    ],
)
def test_an_entry_that_starts_our_bridge_or_a_hub_is_recognised(line: str) -> None:
    assert leads_back(*split(line))


@pytest.mark.parametrize(
    "line",
    [
        "npx -y @modelcontextprotocol/server-filesystem /home/me/tooltray",
        "npx -y tooltray-notes",
        "npx -y @someone/tooltray",
        "npx",
        "uvx mcp-server-git --repository /src/tooltray",
        "uvx",
        "node /home/me/tooltray/server.js",
        "/home/me/tooltray/run.sh",
        "python3 /src/tooltray/tools/__main__.py",
        "python3 -m http.server",
        "python3 -m tooltrays",
        "python3 hot.py",
        "env",
        "env A=b",
        "env -u tooltray node server.js",
        "env node server.js --name=tooltray",
        "env node server.js tooltray",
        "sh -c 'node server.js'",
        "sh -c ''",
        "sh -c exec",
        "sh tooltray",
        "docker run tooltray",
        "cat tooltray",
        "mytooltray",
        "",
    ],
)
def test_an_entry_that_merely_carries_our_name_is_not(line: str) -> None:
    command, *args = shlex.split(line) or [""]
    assert not leads_back(command, args)


def test_a_script_that_no_shell_could_read_is_not() -> None:
    assert not leads_back("sh", ["-c", "tooltray 'unfinished"])


def test_the_refusal_says_what_to_do() -> None:
    assert str(refusal("me")) == "'me' leads back to Tooltray itself: the hub would wait for itself. Remove this entry"


@pytest.mark.parametrize(
    ("url", "own", "is_ours"),
    [
        ("http://127.0.0.1:7717/mcp", "http://127.0.0.1:7717", True),
        ("http://localhost:7717/servers/x/mcp", "http://127.0.0.1:7717", True),
        ("http://[::1]:7717/mcp", "http://127.0.0.1:7717", True),
        ("http://box.lan:7717/mcp", "http://box.lan:7717", True),
        ("http://127.0.0.1:7718/mcp", "http://127.0.0.1:7717", False),
        ("http://example.com:7717/mcp", "http://127.0.0.1:7717", False),
        ("http://127.0.0.1/mcp", "http://127.0.0.1:7717", False),
        ("http://127.0.0.1/mcp", None, False),
        ("http://127.0.0.1:port/mcp", "http://127.0.0.1:7717", False),
    ],
)
def test_a_url_of_the_hubs_own_endpoints_is_recognised(url: str, own: str | None, is_ours: bool) -> None:
    assert url_leads_back(url, own) is is_ours
