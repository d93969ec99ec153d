"""Whole conversations of AI clients with a server behind the hub: what both sides are given, byte for byte."""

from pathlib import Path

import pytest
from tests.contract.recorded_wire import FOLDER, replay


@pytest.mark.parametrize("name", ["legacy", "legacy_batches", "modern"])
async def test_both_sides_are_given_what_they_always_were(home: Path, name: str) -> None:
    async with replay(home / ".tooltray") as conversation:
        await conversation.run((FOLDER / f"{name}.txt").read_text())
