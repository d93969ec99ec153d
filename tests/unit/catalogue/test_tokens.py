"""catalogue/tokens.py"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import Raw

from tooltray.catalogue import tokens
from tooltray.protocol.envelope import dump

DEFINITIONS = Path(__file__).parents[2] / "contract" / "definitions"


def test_texts_are_counted_by_a_real_tokenizer() -> None:
    assert tokens.counted(["hello world", "", "你好 world", "a" * 800, "<|endoftext|>", "half \ud800"]) == [2, 0, 2, 100, 7, 2]


def test_no_text_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere")

    assert tokens.counted([]) == []


@pytest.mark.parametrize("program", ["exit 1", "echo no JSON"])
def test_without_a_tokenizer_nothing_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{program}\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))

    assert tokens.counted(["hello"]) is None


def test_without_a_program_nothing_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))

    assert tokens.counted(["hello"]) is None


def test_an_estimate_goes_by_size() -> None:
    assert [tokens.estimated(size) for size in (0, 5, 4600)] == [0, 1, 1000]


@pytest.mark.parametrize("server", ["everything", "filesystem", "memory", "reference"])
def test_an_estimate_is_near_what_is_counted(server: str) -> None:
    definitions = json.loads((DEFINITIONS / f"{server}.json").read_text())
    texts = [json.dumps({key: each[key] for key in tokens.COUNTED if key in each}, separators=(",", ":")) for each in definitions]
    count = sum(tokens.counted(texts) or ())

    assert tokens.estimated(sum(tokens.counted_size(dump(each)) for each in definitions)) == pytest.approx(count, rel=0.06)


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
    assert tokens.counted_size(Raw(definition.encode())) == len(counted.encode())


@pytest.mark.parametrize("value", ['"half \\ud800"', "[" * 100_000 + "]" * 100_000])
def test_what_cannot_be_read_counts_as_it_stands(value: str) -> None:
    assert tokens.counted_size(Raw(f'{{"description":{value}}}'.encode())) == len(f'{{"description":{value}}}')


def test_the_tokenizer_s_data_are_not_loaded_into_this_process() -> None:
    program = "import sys; from tooltray.catalogue import tokens; tokens.counted(['a']); print('bpe_openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
