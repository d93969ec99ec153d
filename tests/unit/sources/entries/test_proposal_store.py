"""proposal_store.py"""

from pathlib import Path

from tooltray.sources.entries.proposal_snapshots import KeptProposal, KeptProposals, proposal_store


def test_what_programs_propose_is_there_again_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "proposals.json"
    kept = KeptProposals(servers={"s": KeptProposal({"command": "p"}, project="/p", asked_by="ci", asked_at=1.0, secrets=("s/K",))})
    proposal_store(path).write(kept)
    assert proposal_store(path).content == kept
