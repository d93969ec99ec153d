from tooltray.secrets.vaults import MemoryVault


def test_what_was_stored_is_there_until_it_is_removed() -> None:
    vault = MemoryVault()
    vault.set("b", "1")
    vault.set("a", "2")
    vault.set("b", "3")
    assert (vault.get("b"), vault.names()) == ("3", ["a", "b"])
    assert vault.remove("b")
    assert not vault.remove("b")
    assert (vault.get("b"), vault.names()) == (None, ["a"])


def test_there_is_nothing_to_unlock_and_no_value_in_its_repr() -> None:
    vault = MemoryVault()
    vault.unlock("anything")
    vault.set("a", "hunter2")
    assert "hunter2" not in repr(vault)
