"""file_vault.py, vaults.py"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.full_disk import full_disk
from tests.fakes.modes import has_mode

from tooltray.config.secrets.file_vault import SCRYPT_P, SCRYPT_R, FileVault
from tooltray.config.secrets.vaults import SecretsDenied, SecretsLocked
from tooltray.foundation.errors import TooltrayError

PASSPHRASE = "correct horse"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "secrets.enc"


@pytest.fixture
def filled(path: Path) -> Path:
    FileVault(path, PASSPHRASE).set("a", "hunter2")
    return path


def test_what_was_stored_is_there_for_the_next_hub(path: Path) -> None:
    vault = FileVault(path, PASSPHRASE)
    vault.set("files/KEY", "hunter2 é ")
    vault.set("b", "2")
    again = FileVault(path, PASSPHRASE)
    assert (again.get("files/KEY"), again.get("other"), again.names()) == ("hunter2 é ", None, ["b", "files/KEY"])
    assert again.remove("b")
    assert again.remove("b") is None
    assert vault.names() == ["files/KEY"]


def test_neither_names_nor_values_can_be_read_in_the_file(filled: Path) -> None:
    FileVault(filled, PASSPHRASE).set("telling/NAME", "hunter3")
    content = filled.read_bytes()
    assert has_mode(filled, 0o600)
    assert not any(word in content for word in (b"hunter", b"telling", PASSPHRASE.encode()))


def test_the_same_secrets_look_different_each_time(filled: Path) -> None:
    before = json.loads(filled.read_bytes())
    FileVault(filled, PASSPHRASE).set("a", "hunter2")
    after = json.loads(filled.read_bytes())
    assert before["salt"] == after["salt"]
    assert before["nonce"] != after["nonce"]
    assert before["data"] != after["data"]


def test_without_a_file_nothing_is_there_and_no_passphrase_is_needed(path: Path) -> None:
    vault = FileVault(path)
    assert (vault.get("a"), vault.names(), vault.remove("a")) == (None, [], None)
    assert not path.exists()


def test_without_a_passphrase_it_is_locked(filled: Path) -> None:
    vault = FileVault(filled)
    for call in (lambda: vault.get("a"), vault.names, lambda: vault.set("b", "1"), lambda: vault.remove("a")):
        with pytest.raises(SecretsLocked, match="needs its passphrase") as caught:
            call()
        assert "tooltray secrets unlock" in caught.value.problem.hint


def test_nothing_can_be_stored_before_a_passphrase_is_chosen(path: Path) -> None:
    with pytest.raises(SecretsLocked):
        FileVault(path).set("a", "1")


def test_unlocking_opens_it(filled: Path) -> None:
    vault = FileVault(filled)
    vault.unlock(PASSPHRASE)
    assert vault.get("a") == "hunter2"


def test_the_first_passphrase_is_the_one_it_has(path: Path) -> None:
    FileVault(path).unlock(PASSPHRASE)
    with pytest.raises(SecretsLocked, match="The passphrase is wrong"):
        FileVault(path).unlock("another")
    FileVault(path).unlock(PASSPHRASE)


def test_a_wrong_passphrase_is_told_each_time_and_changes_nothing(filled: Path) -> None:
    content = filled.read_bytes()
    vault = FileVault(filled, "wrong")
    for _ in range(2):
        with pytest.raises(SecretsLocked, match="The passphrase is wrong"):
            vault.set("a", "1")
    assert filled.read_bytes() == content
    vault.unlock(PASSPHRASE)
    assert vault.get("a") == "hunter2"


def test_an_empty_passphrase_opens_nothing(path: Path) -> None:
    with pytest.raises(SecretsLocked, match="the passphrase is empty"):
        FileVault(path).unlock("")


def test_a_passphrase_is_the_same_from_every_keyboard(path: Path) -> None:
    FileVault(path, "caf\u00e9").set("a", "1")
    assert FileVault(path, "cafe\u0301").get("a") == "1"


def change(path: Path, **fields: Any) -> None:
    """Changes the file as one who knows its format would: the sum is right again."""
    document = json.loads(path.read_bytes()) | fields
    document.pop("sha256")
    document["sha256"] = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000, b'{"version": 1}'])
def test_a_damaged_file_is_told_apart_from_a_wrong_passphrase(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(SecretsDenied, match="damaged"):
        FileVault(path, PASSPHRASE).get("a")
    with pytest.raises(SecretsDenied, match="damaged"):
        FileVault(path, PASSPHRASE).set("a", "1")
    assert path.read_bytes() == content


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("home") / "secrets.enc"
    FileVault(path, PASSPHRASE).set("a", "hunter2")
    return path.read_bytes()


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_a_flipped_bit_or_a_missing_end_is_found_before_a_passphrase_is_asked_for(
    tmp_path_factory: pytest.TempPathFactory, written: bytes, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("home") / "secrets.enc"
    content = bytearray(written)
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[place:]
    path.write_bytes(content)
    with pytest.raises(SecretsDenied, match="damaged"):
        FileVault(path).get("a")


def test_a_forged_file_cannot_eat_the_memory(filled: Path) -> None:
    change(filled, n=2**30)
    with pytest.raises(SecretsDenied, match="damaged"):
        FileVault(filled, PASSPHRASE).get("a")


def test_a_file_whose_content_was_forged_is_damaged(filled: Path) -> None:
    data = json.loads(filled.read_bytes())["data"]
    change(filled, data=data[:-8] + ("AAAAAAA=" if data[-8:] != "AAAAAAA=" else "BBBBBBB="))
    with pytest.raises(SecretsDenied, match="its content was changed"):
        FileVault(filled, PASSPHRASE).get("a")


def test_what_stands_unencrypted_in_the_file_cannot_be_forged_either(filled: Path) -> None:
    vault = FileVault(filled, PASSPHRASE)
    vault.check()
    change(filled, p=SCRYPT_P + 1)
    with pytest.raises(SecretsDenied, match="its content was changed"):
        vault.get("a")


def test_a_file_of_a_newer_format_is_not_touched(filled: Path) -> None:
    change(filled, version=2)
    content = filled.read_bytes()
    with pytest.raises(SecretsDenied, match="it is not what Tooltray wrote"):
        FileVault(filled, PASSPHRASE).set("a", "1")
    assert filled.read_bytes() == content


def test_a_file_that_was_replaced_is_locked_again(filled: Path) -> None:
    vault = FileVault(filled, PASSPHRASE)
    assert vault.get("a") == "hunter2"
    filled.unlink()
    FileVault(filled, "another").set("a", "1")
    for look in (lambda: vault.get("a"), vault.check):
        with pytest.raises(SecretsLocked, match="replaced by another file"):
            look()


def test_a_check_opens_the_file_also_one_that_is_only_made_then(path: Path) -> None:
    with pytest.raises(SecretsLocked, match="needs its passphrase"):
        FileVault(path).check()
    FileVault(path, PASSPHRASE).check()
    assert path.is_file()
    with pytest.raises(SecretsLocked, match="The passphrase is wrong"):
        FileVault(path, "another").check()


def test_a_file_that_cannot_be_read_is_told(path: Path) -> None:
    path.mkdir()
    with pytest.raises(SecretsDenied, match=r"Is a directory|Permission denied"):
        FileVault(path, PASSPHRASE).get("a")


def test_on_a_full_disk_the_old_secrets_stay(filled: Path) -> None:
    vault = FileVault(filled, PASSPHRASE)
    with full_disk(), pytest.raises(SecretsDenied, match="could not be written") as caught:
        vault.set("b", "hunter3" * 1000)
    assert "hunter3" not in repr(caught.value)
    assert vault.names() == ["a"]
    assert [entry.name for entry in filled.parent.iterdir()] == ["secrets.enc"]


def test_no_error_and_no_repr_holds_a_value_or_the_passphrase(filled: Path) -> None:
    vault = FileVault(filled, PASSPHRASE)
    vault.get("a")
    shown = repr(vault) + "".join(repr(value) for value in vars(vault).values())
    assert "hunter2" not in shown
    assert PASSPHRASE not in shown
    with pytest.raises(TooltrayError) as caught:
        FileVault(filled).unlock("wrong horse")
    assert "wrong horse" not in repr(caught.value)


def test_deriving_a_key_costs_who_guesses_passphrases_enough(shipped_scrypt_n: int) -> None:
    assert (shipped_scrypt_n, SCRYPT_R, SCRYPT_P) == (2**15, 8, 3)  # 32 MiB and a good part of a second for each guess
