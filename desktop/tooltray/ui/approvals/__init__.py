"""What may run without asking: the window of a call that waits, the Approvals page, and its sheets."""
