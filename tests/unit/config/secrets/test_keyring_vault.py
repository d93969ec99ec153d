"""keyring_vault.py, vaults.py"""

import json
from pathlib import Path
from types import SimpleNamespace

import jeepney
import keyring.backend
import keyring.errors
import pytest
import secretstorage.exceptions
from jeepney.low_level import HeaderFields
from keyring.backends.SecretService import Keyring as SecretServiceKeyring
from tests.fakes.full_disk import full_disk
from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.secrets.keyring_vault import ALLOWED, KeyringVault, SystemKeyring, is_allowed, open_system_keyring
from tooltray.config.secrets.vaults import SecretsAbsent, SecretsDenied, SecretsLocked
from tooltray.foundation.errors import TooltrayError


@pytest.fixture
def names_file(tmp_path: Path) -> Path:
    return tmp_path / "secret-names.json"


@pytest.fixture
def vault(names_file: Path, fake_keyring: FakeKeyring) -> KeyringVault:
    return KeyringVault(names_file, lambda: fake_keyring)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def bus_error(name: str) -> Exception:
    header = SimpleNamespace(fields={HeaderFields.error_name: name})
    return jeepney.DBusErrorResponse(SimpleNamespace(header=header, body=("words",)))


def test_values_go_into_the_keyring_and_names_into_the_file(vault: KeyringVault, fake_keyring: FakeKeyring, names_file: Path) -> None:
    vault.set("b/KEY", "hunter2")
    vault.set("a", "2")
    assert fake_keyring.values == {("tooltray", "b/KEY"): "hunter2", ("tooltray", "a"): "2"}
    assert json.loads(names_file.read_bytes()) == ["a", "b/KEY"] == vault.names()
    assert vault.get("b/KEY") == "hunter2"
    assert vault.get("other") is None


def test_removing_removes_both(vault: KeyringVault, fake_keyring: FakeKeyring, names_file: Path) -> None:
    vault.set("a", "1")
    assert vault.remove("a")
    assert not vault.remove("a")
    assert (fake_keyring.values, vault.names()) == ({}, [])


def test_a_name_whose_secret_somebody_else_removed_can_be_removed(vault: KeyringVault, fake_keyring: FakeKeyring) -> None:
    vault.set("a", "1")
    fake_keyring.values.clear()
    assert not vault.remove("a")
    assert vault.names() == []


def test_a_keyring_opens_itself(vault: KeyringVault) -> None:
    vault.unlock("anything")


def test_a_keyring_that_was_absent_is_looked_for_again(names_file: Path, fake_keyring: FakeKeyring) -> None:
    answers: list[SystemKeyring | Exception] = [SecretsAbsent("no"), fake_keyring]

    def open_keyring() -> SystemKeyring:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    vault = KeyringVault(names_file, open_keyring)
    with pytest.raises(SecretsAbsent):
        vault.get("a")
    assert vault.get("a") is None
    assert vault.get("a") is None
    assert answers == []


@pytest.mark.parametrize("content", [b"{half", b"5", b"\xff", b"[" * 100_000])
@pytest.mark.expected_warnings("the list of secret names was broken")
def test_a_broken_list_of_names_is_set_aside(vault: KeyringVault, names_file: Path, content: bytes) -> None:
    names_file.write_bytes(content)
    vault.set("a", "1")
    assert vault.names() == ["a"]
    assert names_file.with_name("secret-names.json.broken").read_bytes() == content


def test_a_list_of_names_that_cannot_be_read_is_told_before_anything_is_stored(
    vault: KeyringVault, names_file: Path, fake_keyring: FakeKeyring
) -> None:
    names_file.mkdir()
    with pytest.raises(SecretsDenied, match="Is a directory"):
        vault.set("a", "1")
    assert fake_keyring.values == {}


def test_on_a_full_disk_the_error_says_that_the_keyring_was_changed(vault: KeyringVault, fake_keyring: FakeKeyring) -> None:
    with full_disk(0), pytest.raises(SecretsDenied, match="the keyring itself was changed"):
        vault.set("a", "hunter2")
    assert fake_keyring.values == {("tooltray", "a"): "hunter2"}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (keyring.errors.KeyringLocked("Failed to unlock the collection!"), SecretsLocked),
        (secretstorage.exceptions.LockedException("locked"), SecretsLocked),
        (secretstorage.exceptions.PromptDismissedException("dismissed"), SecretsLocked),
        (caused(keyring.errors.InitError("no collection"), secretstorage.exceptions.PromptDismissedException("dismissed")), SecretsLocked),
        (TimeoutError(), SecretsLocked),
        (bus_error("org.freedesktop.Secret.Error.IsLocked"), SecretsLocked),
        (keyring.errors.NoKeyringError("none"), SecretsAbsent),
        (keyring.errors.InitError("none"), SecretsAbsent),
        (secretstorage.exceptions.SecretServiceNotAvailableException("gone"), SecretsAbsent),
        (caused(RuntimeError("none"), secretstorage.exceptions.SecretServiceNotAvailableException("gone")), SecretsAbsent),
        (ConnectionResetError(104, "reset"), SecretsAbsent),
        (keyring.errors.PasswordSetError("too long"), SecretsDenied),
        (keyring.errors.PasswordDeleteError("no"), SecretsDenied),
        (caused(keyring.errors.KeyringLocked("denied"), type("KeychainDenied", (Exception,), {})("denied")), SecretsDenied),
        (bus_error("org.freedesktop.DBus.Error.AccessDenied"), SecretsDenied),
        (bus_error("org.freedesktop.DBus.Error.Failed"), SecretsDenied),
        (ValueError("something new"), SecretsDenied),
    ],
)
def test_absent_locked_and_denied_are_told_apart(
    vault: KeyringVault, fake_keyring: FakeKeyring, error: Exception, kind: type[TooltrayError]
) -> None:
    fake_keyring.error = error
    with pytest.raises(TooltrayError) as caught:
        vault.get("a")
    assert type(caught.value) is kind
    assert type(error).__name__ not in str(caught.value)
    assert caught.value.problem.hint


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            caused(
                keyring.errors.InitError("Failed to create the collection: Prompt dismissed.."),
                secretstorage.exceptions.PromptDismissedException("Prompt dismissed."),
            ),
            "The keyring is locked: its prompt was closed or not answered. Try again and enter the keyring's password in its prompt",
        ),
        (
            keyring.errors.KeyringLocked("Failed to unlock the collection!"),
            "The keyring is locked: it was not unlocked. Unlock the keyring of your desktop session and try again",
        ),
        (keyring.errors.InitError("none"), "No keyring found: no keyring service runs in this session"),
        (ValueError("something new"), "The keyring failed: something new. Allow Tooltray to use the keyring"),
    ],
)
def test_a_keyring_s_failures_are_told_in_plain_words(
    vault: KeyringVault, fake_keyring: FakeKeyring, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    fake_keyring.error = error
    with pytest.raises(TooltrayError) as caught:
        vault.get("a")
    assert str(caught.value).startswith(words)


def test_an_error_that_quotes_the_value_is_told_without_it(vault: KeyringVault, fake_keyring: FakeKeyring) -> None:
    fake_keyring.error = keyring.errors.PasswordSetError("cannot store 'hunter2'")
    with pytest.raises(SecretsDenied) as caught:
        vault.set("a", "hunter2")
    assert "cannot store '***'" in caught.value.problem.message
    assert "hunter2" not in repr(caught.value)
    assert caught.value.__cause__ is None


def test_only_the_backends_on_the_list_are_allowed() -> None:
    class Inherits(SecretServiceKeyring):
        pass

    plaintext = type("PlaintextKeyring", (), {"__module__": "keyrings.alt.file"})
    assert is_allowed(SecretServiceKeyring())
    assert not is_allowed(Inherits())
    assert not is_allowed(plaintext())
    assert not is_allowed(FakeKeyring())


def test_the_list_names_backends_that_the_library_has() -> None:
    assert set(ALLOWED) == {"linux", "darwin", "win32"}
    for module, name in ALLOWED.values():
        __import__(module)
        assert name in {backend.__name__ for backend in keyring.backend.KeyringBackend.__subclasses__()}


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32", "plan9"])
def test_without_a_service_there_is_no_keyring_and_the_error_offers_a_choice(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
    with pytest.raises(SecretsAbsent, match="No keyring found") as caught:
        open_system_keyring(platform)
    assert "tooltray secrets backend file (or memory)" in caught.value.problem.hint
    assert "Error" not in str(caught.value)


def test_the_backend_on_the_list_is_opened() -> None:
    allowed = {"here": ("tests.fakes.system_keyring", "FakeKeyring")}
    assert isinstance(open_system_keyring("here", allowed), FakeKeyring)


def test_another_class_under_an_allowed_name_is_refused() -> None:
    allowed = {"here": ("tests.fakes.system_keyring", "Disguised")}
    with pytest.raises(SecretsAbsent, match=r"tests\.fakes\.system_keyring is not on Tooltray's list"):
        open_system_keyring("here", allowed)


def test_a_library_configured_for_plain_text_is_not_listened_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
    with pytest.raises(SecretsAbsent):
        open_system_keyring("linux")
