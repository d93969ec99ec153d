"""Secrets by name: in the system's keyring, in an encrypted file, or in memory. Begin with `secrets`, which chooses between them."""
