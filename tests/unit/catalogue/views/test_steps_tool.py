"""steps_tool.py: the language of chains costs a model little, and its example is a chain."""

import json

from tooltray.catalogue.tokenizer import Tokenizer
from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.steps_tool import WHAT
from tooltray.gateway.steps.chain import read_chain
from tooltray.protocol.envelope import dump, load

MOST_TOKENS = 350


def test_the_description_has_at_most_350_tokens() -> None:
    definition = load(meta_tools.HUB_TOOLS["run_steps"].definition("run_steps"))
    assert definition["description"] == WHAT
    assert definition["annotations"]["destructiveHint"]
    assert Tokenizer().count([WHAT]) <= [MOST_TOKENS]


def test_the_example_can_be_read() -> None:
    example = json.loads(WHAT.partition("Example: ")[2])
    assert [step.id for step in read_chain(dump({"arguments": example})).steps] == ["list", "label"]
