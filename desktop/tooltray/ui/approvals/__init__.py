"""The windows that ask: about a call that waits, and about what a command wants to allow. `permissions` has the Permissions page."""
