"""Measures how well and how fast tools are found: `make bench-search SETS=folder`.

Prints a table: for each set of `search_sets.py` the share of right tools that are first, and among five (R@1, R@5), with meanings and by
words alone; then what a search takes, what an index takes to make, and how much memory the table and an index need.
"""

import argparse
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.machine import p50_p99
from tests.bench.search_sets import Question, QuestionSet, sets

from tooltray.catalogue.views.meanings import WordMeanings
from tooltray.catalogue.views.search import ToolIndex, ToolText
from tooltray.catalogue.views.search_words import QueryWords, read_query_words
from tooltray.foundation.programs import resource

SIZES = 300, 5_000  # tools of a list whose search is timed
ROUNDS = 300


def recall(index: ToolIndex, measured: QuestionSet, among: int) -> float:
    """Returns the mean share of the needs of a question that the first tools meet."""

    def share(asked: Question) -> float:
        found = index.find(asked.text, among)
        return sum(not need.isdisjoint(found) for need in asked.needs) / len(asked.needs)

    return sum(map(share, measured.questions)) / len(measured.questions)


def quality(measured: QuestionSet, query_words: QueryWords, meanings: WordMeanings) -> str:
    with_meanings = ToolIndex(measured.tools, query_words, meanings)
    by_words = ToolIndex(measured.tools, query_words)
    figures = (recall(index, measured, among) for index in (with_meanings, by_words) for among in (1, 5))
    return f"{measured.name:44}{len(measured.questions):6}" + "".join(f"{each:9.3f}" for each in figures)


def made_up(count: int, known: tuple[ToolText, ...]) -> list[ToolText]:
    """Tools of the sets, again and again, each with words of another."""
    chance = random.Random(34)
    return [
        each._replace(name=f"{each.name}_{number}", description=f"{each.description} {chance.choice(known).description}")
        for number, each in enumerate(chance.choice(known) for _ in range(count))
    ]


def times(tools: list[ToolText], questions: list[str], query_words: QueryWords, meanings: WordMeanings) -> Iterator[str]:
    tracemalloc.start()
    index = ToolIndex(tools, query_words, meanings)
    memory = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    begun = time.thread_time()
    index = ToolIndex(tools, query_words, meanings)
    made = time.thread_time() - begun
    yield f"{len(tools):6} tools: index {made * 1000:8.1f} ms, {memory:6.1f} MB"
    for words in (6, 32):
        taken = [_taken(lambda text=text: index.find(text, 5)) for text in _questions(questions, words)]  # type: ignore[misc]
        p50, p99 = p50_p99(taken)
        yield f"              a question of {words:2} words: p50 {p50 * 1000:6.2f} ms, p99 {p99 * 1000:6.2f} ms"


def _questions(known: list[str], words: int) -> Iterator[str]:
    chance = random.Random(words)
    for _ in range(ROUNDS):
        yield " ".join(" ".join(chance.sample(known, 6)).split()[:words])


def _taken(work: Callable[[], object]) -> float:
    begun = time.thread_time()  # processor time: the machine may be busy
    work()
    return time.thread_time() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folders", type=Path, nargs="+", help="with the sets")
    measured = [each for folder in parser.parse_args().folders for each in sets(folder)]
    if not measured:
        sys.exit("the folders have none of the sets")
    query_words, meanings = read_query_words(resource("search-words.json")), WordMeanings(resource("word-meanings.bin"))
    print(f"{'':44}{'asked':>6}{'R@1':>9}{'R@5':>9}{'R@1 words':>11}{'R@5 words':>11}")
    for each in measured:
        print(quality(each, query_words, meanings), flush=True)
    known = tuple(tool for each in measured for tool in each.tools)
    questions = [question.text for each in measured for question in each.questions]
    for size in SIZES:
        for line in times(made_up(size, known), questions, query_words, meanings):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
