"""pasted_urls.py: headers, transport and keys of a pasted remote server."""

from typing import Any

import pytest

from tooltray.sources.entries.pasted_urls import netloc, parameters, take_headers, usual_type, with_parameter, without_keys


@pytest.mark.parametrize(
    ("config", "headers"),
    [
        ({}, {}),
        ({"headers": {"A": "x"}}, {"A": "x"}),
        ({"customHeaders": {"A": 1, "B": True, "C": None}}, {"A": "1", "B": "true"}),
        ({"http_headers": {"A": "${env:KEY} in ${userHome}"}}, {"A": "${KEY} in ${HOME}"}),
        ({"requestInit": {"headers": {"A": "x"}}}, {"A": "x"}),
        ({"headers": {"A": "x"}, "customHeaders": {"A": "y", "B": "z"}}, {"A": "y", "B": "z"}),
        ({"env_http_headers": {"X-Key": "KEY"}}, {"X-Key": "${KEY}"}),
        ({"bearer_token_env_var": "TOKEN"}, {"Authorization": "Bearer ${TOKEN}"}),
        ({"requestOptions": {"headers": {"A": "x", "B": None}}, "apiKey": "k"}, {"A": "x", "Authorization": "Bearer k"}),
        ({"headers": {"A": "Bearer $TOK"}, "apiKey": "$KEY"}, {"A": "Bearer ${TOK}", "Authorization": "Bearer ${KEY}"}),
        ({"headers": "odd", "env_http_headers": [], "bearer_token_env_var": 3}, {}),
    ],
)
def test_headers_are_taken_out_in_each_form_that_clients_write(config: dict[str, Any], headers: dict[str, str]) -> None:
    config["url"] = "https://h"
    assert take_headers(config) == headers
    assert config == {"url": "https://h"}


@pytest.mark.parametrize(
    ("url", "type"),
    [("https://h/sse", "sse"), ("https://h/sse/?a=b", "sse"), ("https://h/a/sse#x", "sse"), ("https://h/mcp?next=/sse", "")],
)
def test_only_a_path_that_ends_in_sse_means_sse(url: str, type: str) -> None:
    assert usual_type(url) == type


@pytest.mark.parametrize(("url", "expected"), [("https://me@h:81/x", "me@h:81"), ("https://[::1", "")])
def test_of_a_url_that_is_none_there_is_no_host(url: str, expected: str) -> None:
    assert netloc(url) == expected


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pw@h/x?key=k#f", "https://h/x"),
        ("HTTPS://me@h", "HTTPS://h"),
        ("https://h/a@b", "https://h/a@b"),
        ("https://h#k?x", "https://h"),
    ],
)
def test_what_is_shown_of_a_url_has_no_key(url: str, shown: str) -> None:
    assert without_keys(url) == shown


def test_the_parameters_of_a_url_are_those_before_its_fragment() -> None:
    assert parameters("https://h/x?a=1&b=%20#?c=3") == [("a", "1"), ("b", " ")]


def test_a_parameter_is_replaced_once_escaped_unless_it_is_a_placeholder() -> None:
    url = "https://h/x?a b=1&a%20b=2&a%20b=3#f"
    assert with_parameter(url, "a b", "x&y") == "https://h/x?a b=1&a%20b=x%26y&a%20b=3#f"
    assert with_parameter("https://h?key=k", "key", "${secret:s/KEY}") == "https://h?key=${secret:s/KEY}"
    assert with_parameter("https://h?monkey=k", "key", "x") == "https://h?monkey=k"
