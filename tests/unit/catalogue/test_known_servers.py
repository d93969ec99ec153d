"""known_servers.py: what is said of servers that are known, and of others."""

import json
from typing import Any

import pytest

from tooltray.catalogue.known_servers import MAX_OFFERS, KnownServers
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.programs import resource

PATH = resource("known-servers.json")
KNOWN = KnownServers(PATH)


def server(**fields: Any) -> MCPServerConfig:
    return MCPServerConfig.model_validate({"command": "program"} | fields if "url" not in fields else fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "npx", "args": ["-y", "@playwright/mcp"]},
        {"command": "npx", "args": ["@playwright/mcp@latest", "--headless"]},
        {"command": "node", "args": ["/opt/x/node_modules/@playwright/mcp/cli.js"]},
        {"command": "node", "args": ["C:\\x\\node_modules\\@playwright\\mcp\\cli.js"]},
    ],
)
def test_a_server_is_known_by_its_package_whatever_it_is_called(fields: dict[str, Any]) -> None:
    assert "web browser" in KNOWN.offers("mine", server(**fields))


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"command": "uvx", "args": ["mcp-server-git==1.2", "--repository", "."]}, "Git"),
        ({"command": "uvx", "args": ["--from", "git+https://host.example/oraios/serena.git", "serena-mcp-server"]}, "Understands code"),
        ({"command": "uvx", "startupArgsTemplate": ["serena-mcp-server"], "deferredStartup": True}, "Understands code"),
        ({"command": "/opt/bin/github-mcp-server.exe"}, "GitHub"),
        ({"url": "https://mcp.linear.app/mcp"}, "Linear"),
    ],
)
def test_or_by_its_program_or_host(fields: dict[str, Any], part: str) -> None:
    assert part in KNOWN.offers("mine", server(**fields))


def test_what_a_known_server_needs_is_told_of_one_that_is_run_here() -> None:
    assert KNOWN.variables("mine", server(command="npx", args=["-y", "@modelcontextprotocol/server-brave-search"])) == ("BRAVE_API_KEY",)
    assert KNOWN.variables("time", server(command="uvx", args=["mcp-server-time"])) == ()
    assert KNOWN.variables("mine", server()) == ()
    assert KNOWN.variables("github", server(url="https://api.githubcopilot.com/mcp")) == ()


def test_a_variable_for_a_file_that_its_entry_lacks_is_told_with_the_files_usual_name() -> None:
    memory = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    assert KNOWN.files("mine", server(**memory)) == {"MEMORY_FILE_PATH": "memory.jsonl"}
    assert KNOWN.files("mine", server(**memory, env={"MEMORY_FILE_PATH": "/a"})) == {}
    assert KNOWN.files("mine", server()) == {}


def test_or_by_its_name_and_of_others_nothing_is_said() -> None:
    assert "Understands code" in KNOWN.offers("Serena", server())
    assert KNOWN.offers("mine", server()) == ""
    assert KNOWN.offers("mine", server(url="http://[::1]:5/")) == ""
    assert KNOWN.offers("mine", server(url="http://[x")) == ""


def test_a_person_s_own_words_go_before_and_end_as_a_sentence() -> None:
    assert KNOWN.offers("serena", server(descriptions=" My\n words ")) == "My words."
    assert KNOWN.offers("serena", server(descriptions="Mine!")) == "Mine!"
    assert KNOWN.offers("serena", server(descriptions="x" * 1000)) == "x" * MAX_OFFERS + "."


@pytest.mark.parametrize(
    ("name", "title"),
    [
        *(("serena", "Serena"), ("github", "GitHub"), ("my-own_server", "My Own Server"), ("iOS tools", "IOS Tools"), ("天氣", "天氣")),
        *(("-", "-"),),
    ],
)
def test_a_server_has_a_title_of_its_name(name: str, title: str) -> None:
    assert KNOWN.title(name, server()) == title


def test_a_known_name_that_another_server_has_is_a_name_like_any() -> None:
    assert KNOWN.title("github", server(command="uvx", args=["mcp-server-git"])) == "Github"


def test_what_is_known_are_short_sentences_and_no_word_means_two_servers() -> None:
    entries = json.loads(PATH.read_text())["servers"]
    words = [word for entry in entries for word in entry["words"]]
    assert len(words) == len(set(words))
    assert all(entry["offers"].endswith(".") and len(entry["offers"]) < 120 and entry["title"] for entry in entries)
