"""token_counter.py: one process counts many times; if it ends or is none, that is no failure of the call."""

import sys

import pytest

from tooltray.gateway.kept_results import token_counter
from tooltray.gateway.kept_results.token_counter import TokenCounter

ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps([len(text) for text in json.loads(line)]), flush=True)
    if sys.argv[1:] == ["once"]:
        break
"""


async def test_a_process_stays_and_counts_again() -> None:
    counter = TokenCounter([sys.executable, "-c", ECHO])
    assert counter(["a", "bc\n\ud83d"]) == [1, 4]
    assert counter(["abc"]) == [3]
    await counter.close()
    await counter.close()


async def test_another_one_is_started_where_it_has_ended() -> None:
    counter = TokenCounter([sys.executable, "-c", ECHO, "once"])
    assert counter(["a"]) == [1]
    assert counter(["ab"]) == [2]
    await counter.close()


def test_without_a_tokenizer_nothing_is_counted() -> None:
    assert TokenCounter([sys.executable + "-none"])(["a"]) is None


async def test_the_real_one_counts_again_and_again() -> None:
    counter = TokenCounter()
    if counter(["word"]) is None:
        pytest.skip("there is no tokenizer for this system")
    assert counter(["a word", "zwei Wörter sind mehr"]) == [2, counter(["zwei Wörter sind mehr"])[0]]
    await counter.close()


async def test_one_that_does_not_end_by_itself_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_counter, "ENDS_WITHIN_S", 0.01)
    stays = "import sys, time; print(sys.stdin.readline() and [1], flush=True); time.sleep(600)"
    counter = TokenCounter([sys.executable, "-c", stays])
    assert counter(["a"]) == [1]
    await counter.close()


async def test_one_that_hangs_is_ended_and_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_counter, "LONGEST_S", 0.01)
    counter = TokenCounter([sys.executable, "-c", "import time; time.sleep(600)"])
    assert counter(["a"]) is None
    await counter.close()
