"""known_proxies.py: what stands behind a proxy is offered in its place, and what is not understood stays as it is."""

from typing import Any

import pytest

from tooltray.sources.foreign_entries.known_proxies import carried_by

URL = "https://a.example/mcp"


def entry(line: str, **fields: Any) -> dict[str, Any]:
    command, *args = line.split("|")
    return {"command": command, "args": args, **fields}


@pytest.mark.parametrize(
    ("line", "carried"),
    [
        (f"npx|-y|mcp-remote|{URL}", {"url": URL}),
        (f"npx|-y|mcp-remote@latest|{URL}|3334|--allow-http|--debug", {"url": URL}),
        (f"npx|mcp-remote|{URL}|--transport|sse-only", {"url": URL, "type": "sse"}),
        (f"npx|mcp-remote|{URL}|--transport|odd|--host|127.0.0.1", {"url": URL}),
        (f"cmd|/c|npx|-y|mcp-remote|{URL}|--header|X-Key: dummy-value", {"url": URL, "headers": {"X-Key": "dummy-value"}}),
        (f"C:\\x\\npx.cmd|mcp-remote|{URL}|--header|Authorization:${{AUTH}}", {"url": URL, "headers": {"Authorization": "Bearer dummy"}}),
        (f"bunx|mcp-remote|{URL}|--header|A:${{OTHER}}", {"url": URL, "headers": {"A": "${OTHER}"}}),
        (f"mcp-remote|{URL}", {"url": URL}),
        (f"npx|-y|supergateway|--sse|{URL}|--logLevel|none", {"url": URL, "type": "sse"}),
        (
            f"npx|supergateway|--streamableHttp|{URL}|--oauth2Bearer|dummy|--header|X: y|--outputTransport|stdio",
            {"url": URL, "type": "http", "headers": {"Authorization": "Bearer dummy", "X": "y"}},
        ),
        (f"uvx|mcp-proxy|{URL}", {"url": URL, "type": "sse"}),
        (f"uvx|mcp-proxy|--transport|streamablehttp|-H|X|y|{URL}", {"url": URL, "type": "http", "headers": {"X": "y"}}),
        (f"uvx|mcp-proxy|--transport|sse|{URL}", {"url": URL, "type": "sse"}),
    ],
)
def test_a_server_behind_a_proxy_is_offered_itself(line: str, carried: dict[str, Any]) -> None:
    found = carried_by(entry(line, env={"AUTH": "Bearer dummy"}, cwd="/x", callTimeout=5.0))
    assert found is not None
    assert found.entry == {"callTimeout": 5.0, **carried}
    assert "a server elsewhere, behind" in found.proxied


def test_the_token_of_mcp_proxy_is_in_a_variable() -> None:
    found = carried_by(entry(f"mcp-proxy|{URL}", env={"API_ACCESS_TOKEN": "dummy"}))
    assert found is not None
    assert found.entry["headers"] == {"Authorization": "Bearer dummy"}


@pytest.mark.parametrize(
    "line",
    [
        "npx|-y|some-server|https://a.example",
        "npx|-y",
        "",
        "cmd|/c",
        "npx|mcp-remote",
        "npx|mcp-remote|${URL}",
        f"npx|mcp-remote|{URL}|--static-oauth-client-info|x",
        f"npx|mcp-remote|{URL}|--ignore-tool|delete*",
        f"npx|mcp-remote|{URL}|--header|nonsense",
        f"npx|mcp-remote|{URL}|--header",
        f"npx|mcp-remote|{URL}|{URL}",
        "npx|supergateway|--stdio|npx server",
        f"npx|supergateway|--sse|{URL}|--header|nonsense",
        f"npx|supergateway|--sse|{URL}|--outputTransport|sse",
        f"npx|supergateway|--sse|{URL}|--header",
        "uvx|mcp-proxy|uvx|server",
        "docker|ps",
        "docker|run|-i",
        "docker|run|-e",
        "npx|@smithery/cli|list",
    ],
)
def test_anything_else_stays_as_it_is(line: str) -> None:
    assert carried_by(entry(line)) is None


def test_a_server_elsewhere_is_no_proxy() -> None:
    assert carried_by({"url": URL}) is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("docker|run|-i|--rm|-e|TOKEN|--env-file=x|ghcr.io/a/b", "the container image ghcr.io/a/b"),
        ("docker|mcp|gateway|run", "Docker's own gateway"),
        ("npx|-y|@smithery/cli@latest|run|@a/b", "the server @a/b of Smithery"),
    ],
)
def test_a_container_and_a_gateway_stay_and_are_named(line: str, said: str) -> None:
    before = entry(line)
    found = carried_by(before)
    assert found is not None
    assert (found.entry, said in found.proxied) == (before, True)
