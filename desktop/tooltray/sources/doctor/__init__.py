"""The doctor: why a server does not run, and how to fix it."""
