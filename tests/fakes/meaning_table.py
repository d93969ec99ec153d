"""A table of meanings with a few words, as `scripts/word_meanings.py` writes it."""

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

from tooltray.catalogue.views.meanings import MAGIC, ZERO, WordMeanings, hash_of


def write_meanings(path: Path, vectors: Mapping[str, Sequence[int]]) -> WordMeanings:
    """Writes a table with these words, whose numbers are -7 to 7 and evenly many, and reads it. A vector of length 8 has the weight 1."""
    size = len(next(iter(vectors.values())))
    in_order = sorted(vectors, key=hash_of)
    halves = ((vectors[word][: size // 2], vectors[word][size // 2 :]) for word in in_order)
    numbers = bytes(low + ZERO | high + ZERO << 4 for both in halves for low, high in zip(*both, strict=True))
    path.write_bytes(MAGIC + array("I", [size, len(in_order), 8, *map(hash_of, in_order)]).tobytes() + numbers)
    return WordMeanings(path)
