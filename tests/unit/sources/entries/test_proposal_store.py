"""proposal_store.py: what programs have proposed is kept over restarts, and what cannot be read is forgotten and said so."""

from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.entries.proposal_store import KeptProposal, ProposalStore


def test_what_is_written_is_read_again_by_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "proposals.json"
    store = ProposalStore(path)
    assert (store.kept, store.problem) == ({}, None)
    kept = {"s": KeptProposal({"command": "p"}, project="/p", asked_by="ci", asked_at=1.0, secrets=("s/K",))}
    store.write(kept)
    assert ProposalStore(path).kept == kept
    assert has_mode(path, 0o600)


def test_what_cannot_be_read_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "proposals.json"
    path.write_text("[" * 5000)
    store = ProposalStore(path)
    assert (store.kept, path.exists()) == ({}, False)
    assert store.problem is not None
    assert "set-aside" in store.problem.message or "broken" in store.problem.message


def test_where_nothing_can_be_read_or_written_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "proposals.json"
    path.mkdir()
    store = ProposalStore(path)
    assert store.problem is not None
    assert str(path) in store.problem.message
    with pytest.raises(TooltrayError, match="cannot be saved"):
        store.write({})
