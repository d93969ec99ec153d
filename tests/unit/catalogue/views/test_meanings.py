"""meanings.py: the table of what words mean, and how like meanings are."""

import math
import random
from pathlib import Path

import pytest
from tests.fakes.meaning_table import write_meanings

from tooltray.catalogue.views.meanings import SCALE, UNKNOWN, MeaningIndex, WordMeanings
from tooltray.foundation.programs import resource

VECTORS = {"file": (6, 0, -2, 2), "document": (3, 0, -1, 1), "weather": (0, -7, 7, 0)}


@pytest.fixture
def meanings(tmp_path: Path) -> WordMeanings:
    return write_meanings(tmp_path / "table.bin", VECTORS)


def cosine(left: tuple[int, ...], right: tuple[int, ...]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True)) / math.hypot(*left) / math.hypot(*right)


def test_the_meaning_of_a_word_points_as_in_the_table(meanings: WordMeanings) -> None:
    for word, vector in VECTORS.items():
        found = meanings.of({word: 1})
        assert found is not None
        assert cosine(tuple(found), vector) == pytest.approx(1, abs=1e-3)
        assert math.hypot(*found) == pytest.approx(SCALE, abs=2)


def test_the_meaning_of_a_text_is_the_weighted_sum_of_its_words(meanings: WordMeanings) -> None:
    found = meanings.of({"file": 2, "weather": 3, "unknown": 50})
    assert found is not None
    assert cosine(tuple(found), (12, -21, 17, 4)) == pytest.approx(1, abs=1e-3)


def test_a_text_of_unknown_words_has_no_meaning(meanings: WordMeanings, tmp_path: Path) -> None:
    assert meanings.of({"zeppelin": 1, "天氣": 1, "\ud800": 1}) is None
    assert meanings.of({}) is None
    opposites = write_meanings(tmp_path / "opposites.bin", {"up": (5, 1), "down": (-5, -1)})
    assert opposites.of({"up": 1, "down": 1}) is None


def test_a_word_of_a_longer_vector_says_more_and_so_does_an_unknown_one(meanings: WordMeanings) -> None:
    assert meanings.weight("file") == pytest.approx((math.hypot(6, -2, 2) / 8) ** 0.5)
    assert meanings.weight("document") < meanings.weight("file") < meanings.weight("weather")
    assert meanings.weight("zeppelin") == UNKNOWN


def test_a_plural_means_what_its_singular_means(meanings: WordMeanings) -> None:
    assert meanings.of({"files": 1}) == meanings.of({"file": 1})


def test_a_word_that_joins_two_means_what_both_mean(meanings: WordMeanings) -> None:
    assert meanings.of({"weatherdocument": 2}) == meanings.of({"weather": 1, "document": 1})
    assert meanings.of({"filesweather": 1}) == meanings.of({"file": 1, "weather": 1})
    assert meanings.weight("weatherdocument") == pytest.approx((math.hypot(3, 7, 6, 1) / 8) ** 0.5)


def test_a_word_that_joins_an_unknown_one_or_is_very_long_has_no_meaning(meanings: WordMeanings, tmp_path: Path) -> None:
    assert meanings.of({"documentzeppelin": 1, "zeppelindocument": 1}) is None
    longer = write_meanings(tmp_path / "longer.bin", {"documentation": (6, 1), "visualization": (-5, 1)})
    assert longer.of({"visualization": 1}) is not None
    assert longer.of({"documentationvisualization": 1}) is None


def test_of_a_text_the_share_with_a_meaning_goes_by_the_weights_of_words(meanings: WordMeanings) -> None:
    assert meanings.known({"file": 2, "weatherdocument": 1, "zeppelin": 1}) == 0.75
    assert meanings.known({"zeppelin": 1}) == 0


def test_without_a_table_no_word_has_a_meaning() -> None:
    assert WordMeanings().of({"file": 1}) is None
    assert WordMeanings().size == 0


def test_a_table_is_read_when_the_first_word_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "later.bin"
    meanings = WordMeanings(path)
    write_meanings(path, VECTORS)
    assert meanings.size == 4


def test_what_is_no_table_is_said(tmp_path: Path) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(b"other")
    with pytest.raises(ValueError, match=r"other\.bin"):
        WordMeanings(path).of({"file": 1})


def test_likeness_is_the_cosine_for_each_place() -> None:
    chance = random.Random(3)
    vectors = [[chance.randint(-SCALE, SCALE) for _ in range(128)] for _ in range(40)]
    scaled = [[round(SCALE * number / math.hypot(*vector)) for number in vector] for vector in vectors]
    likeness = MeaningIndex(scaled).likeness(scaled[7])
    assert likeness == pytest.approx([cosine(tuple(vectors[7]), tuple(each)) for each in vectors], abs=0.01)


def test_likeness_reaches_from_opposite_to_same_and_is_0_without_a_meaning() -> None:
    assert MeaningIndex([[SCALE], [-SCALE], [0]]).likeness([-SCALE]) == [-1, 1, 0]
    assert MeaningIndex([]).likeness([SCALE]) == []


def test_the_table_that_comes_with_tooltray_is_small_and_knows_what_is_alike() -> None:
    path = resource("word-meanings.bin")
    assert path.stat().st_size <= 4_000_000
    meanings = WordMeanings(path)

    def like(left: str, right: str) -> float:
        vectors = [meanings.of({word: 1}) for word in (left, right)]
        return cosine(*(tuple(each or ()) for each in vectors))

    assert like("shell", "terminal") > like("shell", "weather")
    assert like("remove", "delete") > like("remove", "create")
    assert like("photo", "picture") > like("photo", "file") > like("photo", "commit")
