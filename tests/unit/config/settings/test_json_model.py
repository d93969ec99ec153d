"""json_model.py"""

from tooltray.config.settings.json_model import MOST_REASONS, joined, of_place
from tooltray.foundation.phrases import Phrase


def test_each_reason_is_a_phrase_that_a_window_can_say_in_its_language_the_first_few_of_very_many() -> None:
    reasons = [of_place((f"a\n{number}",), Phrase("must be text")) for number in range(MOST_REASONS + 2)]
    text = joined(reasons)
    assert isinstance(text, Phrase)
    assert text.startswith("a?0: must be text; a?1: must be text; ")
    assert text.endswith("a?7: must be text; and 2 more")
    assert joined(reasons[:1]) is reasons[0]
