"""Sentences that remember how they were made."""

import copy

import msgspec
import pytest

from tooltray.foundation.phrases import Phrase, plain_text


def test_a_phrase_is_its_text_and_knows_what_it_was_made_of() -> None:
    phrase = Phrase("{why}; {count} more", why=Phrase("because of {name}", name="{braces}"), count=3)
    assert phrase == "because of {braces}; 3 more"
    assert (phrase.template, phrase.fields["count"]) == ("{why}; {count} more", 3)
    assert phrase.fields["why"].template == "because of {name}"  # type: ignore[attr-defined]


def test_what_is_made_of_a_phrase_is_a_plain_text() -> None:
    phrase = Phrase("one")
    assert [type(each) for each in (f"{phrase}!", phrase[:2], copy.deepcopy(phrase), str(phrase))] == [str] * 4


def test_encoders_get_the_text_and_nothing_else_that_they_cannot_write() -> None:
    assert msgspec.to_builtins({"why": Phrase("{count} left", count=2)}, enc_hook=plain_text) == {"why": "2 left"}
    with pytest.raises(NotImplementedError, match="object"):
        msgspec.to_builtins(object(), enc_hook=plain_text)


def test_a_phrase_is_filled_with_other_values() -> None:
    phrase = Phrase("Start {name}", name="").filled(name="files")
    assert (phrase, phrase.template, phrase.fields) == ("Start files", "Start {name}", {"name": "files"})
