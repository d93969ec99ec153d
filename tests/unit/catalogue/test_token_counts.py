"""token_counts.py"""

import itertools
import json
import sys
from pathlib import Path

import pytest
from msgspec import Raw

from tooltray.catalogue import token_counts
from tooltray.protocol.envelope import dump

DEFINITIONS = Path(__file__).parents[2] / "contract" / "definitions"


SERVERS = ("everything", "filesystem", "memory", "reference")
SHORT = {"hello world": 2, "": 0, "你好 world": 2, "a" * 800: 100, "<|endoftext|>": 7, "half \ud800": 2}


def definitions(server: str) -> list[dict[str, object]]:
    return json.loads((DEFINITIONS / f"{server}.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    """The short texts, and what models get of each server's definitions, counted at once: the tokenizer takes a second to start."""
    texts = {
        server: [
            json.dumps({key: each[key] for key in token_counts.COUNTED if key in each}, separators=(",", ":"))
            for each in definitions(server)
        ]
        for server in SERVERS
    }
    found = iter(token_counts.counted([*SHORT, *(text for each in texts.values() for text in each)]) or ())
    return {text: next(found) for text in SHORT} | {server: sum(itertools.islice(found, len(each))) for server, each in texts.items()}


def test_texts_are_counted_by_a_real_tokenizer(counts: dict[str, int]) -> None:
    assert {text: counts[text] for text in SHORT} == SHORT


def test_only_what_models_get_of_a_definition_is_counted() -> None:
    definition = Raw('{"name": "t","description":"讀","icons":[],"_meta":{"a":1},"inputSchema":{"type":"object"}}'.encode())
    assert token_counts.counted_text(definition) == '{"name":"t","description":"讀","inputSchema":{"type":"object"}}'


def test_a_definition_that_python_cannot_hold_is_counted_as_it_is() -> None:
    deep = b'{"inputSchema":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert token_counts.counted_text(Raw(deep)) == deep.decode()


def test_no_text_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere")

    assert token_counts.counted([]) == []


@pytest.mark.expected_warnings("tokens are estimated")
@pytest.mark.parametrize("program", ["exit 1", "echo no JSON"])
def test_without_a_tokenizer_nothing_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, caplog: pytest.LogCaptureFixture
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{program}\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))

    assert token_counts.counted(["hello"]) is None
    assert "tokens are estimated, not counted" in caplog.text


@pytest.mark.expected_warnings("tokens are estimated")
def test_without_a_program_nothing_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))

    assert token_counts.counted(["hello"]) is None


def test_an_estimate_goes_by_size() -> None:
    assert [token_counts.estimated(size) for size in (0, 5, 4600)] == [0, 1, 1000]


def test_an_estimate_as_text_is_rounded_up_to_two_digits() -> None:
    assert [token_counts.roughly(tokens) for tokens in (0, 7, 31, 2_748, 5_000, 5_001)] == ["0", "7", "31", "2,800", "5,000", "5,100"]


@pytest.mark.parametrize("server", SERVERS)
def test_an_estimate_is_near_what_is_counted(server: str, counts: dict[str, int]) -> None:
    assert token_counts.estimated(sum(token_counts.counted_size(dump(each)) for each in definitions(server))) == pytest.approx(
        counts[server], rel=0.06
    )


@pytest.mark.parametrize(
    ("definition", "counted"),
    [
        ('{"name": "a", "title": "not counted", "description": "\\u5929", "outputSchema": {"x": 1}}', '{"name":"a","description":"天"}'),
        (
            '{"name": "a", "inputSchema": {"type": "object", "properties": {}}}',
            '{"name":"a","inputSchema":{"type":"object","properties":{}}}',
        ),
        ("{}", "{}"),
    ],
)
def test_only_what_models_get_counts_without_spaces(definition: str, counted: str) -> None:
    assert token_counts.counted_size(Raw(definition.encode())) == len(counted.encode())


@pytest.mark.parametrize("value", ['"half \\ud800"', "[" * 100_000 + "]" * 100_000])
def test_what_cannot_be_read_counts_as_it_stands(value: str) -> None:
    assert token_counts.counted_size(Raw(f'{{"description":{value}}}'.encode())) == len(f'{{"description":{value}}}')
