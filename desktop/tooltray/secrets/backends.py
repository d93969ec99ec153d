"""Where secrets can be kept. The lowest module of secrets."""

from typing import Literal

SecretBackend = Literal["keyring", "file", "memory"]
