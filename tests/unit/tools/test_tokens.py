"""tools/tokens.py"""

import subprocess
import sys
from pathlib import Path

import pytest

from tooltray.tools import tokens


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
    assert [tokens.estimated(size) for size in (0, 4, 4000)] == [0, 1, 1000]


def test_the_tokenizer_s_data_are_not_loaded_into_this_process() -> None:
    program = "import sys; from tooltray.tools import tokens; tokens.counted(['a']); print('bpe_openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
