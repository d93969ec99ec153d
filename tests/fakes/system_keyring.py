"""A keyring of the operating system that lives in a dictionary, and can be as unhelpful as a real one."""

import threading


class FakeKeyring:
    """Values by service and name.

    Attributes:
        values: what is stored.
        error: raised by every call, if it is set.
        prompt: every call waits until this is set, as a locked keyring waits for a password.
        is_asked: set once a call is waiting.
        threads: the threads that called.
        call_count: how often it was called.
    """

    priority = 1.0

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}
        self.error: Exception | None = None
        self.prompt = threading.Event()
        self.prompt.set()
        self.is_asked = threading.Event()
        self.threads: set[threading.Thread] = set()
        self.call_count = 0

    def get_password(self, service: str, username: str) -> str | None:
        self._begin()
        return self.values.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._begin()
        self.values[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._begin()
        del self.values[service, username]

    def _begin(self) -> None:
        self.threads.add(threading.current_thread())
        self.call_count += 1
        self.is_asked.set()
        assert self.prompt.wait(30)
        if self.error:
            raise self.error


Disguised = FakeKeyring
"""One class under the name of another, as a package that patches a library would leave it."""
