"""How a person confirms what commands allow, and the record of it, at a real hub without a window."""

from tests.end2end.verbs.hub_at_work import Checks

PASSPHRASE = "correct horse battery"


async def for_the_window(hub):
    assert "Only Tooltray's window" in await hub.refusal("get_confirmations")
    assert "Only Tooltray's window" in await hub.refusal("answer_confirmation", id="x", yes=True)


async def passphrase(hub):
    assert "needs 8 characters" in await hub.refusal("set_passphrase", passphrase="short")
    await hub("set_passphrase", passphrase=PASSPHRASE)
    assert "needs the passphrase" in await hub.refusal("remove_passphrase")
    assert "not the passphrase" in await hub.refusal("confirm_with_passphrase", passphrase="wrong one")
    await hub("confirm_with_passphrase", passphrase=PASSPHRASE)
    assert (await hub("get_passphrase_state"))["is_set"]
    await hub("remove_passphrase")
    assert not (await hub("get_passphrase_state"))["is_set"]


async def audit(hub):
    folder = hub.world.home / "audited"
    folder.mkdir(exist_ok=True)
    path = await hub("allow_folder", path=str(folder))
    [entry] = await hub("get_audit", limit=1)
    assert (entry["what"], entry["verb"], entry["way"], entry["about"]["folder"]) == ("Allowing a folder", "allow_folder", "terminal", path)
    await hub("disallow_folder", path=path)
    assert (await hub("get_audit", limit=1))[0]["answer"] == "narrowed"
    assert (await hub("verify_audit"))["is_whole"]


CHECKS: Checks = {
    "get_confirmations": for_the_window,
    "answer_confirmation": for_the_window,
    "get_passphrase_state": passphrase,
    "confirm_with_passphrase": passphrase,
    "set_passphrase": passphrase,
    "remove_passphrase": passphrase,
    "get_audit": audit,
    "verify_audit": audit,
}
