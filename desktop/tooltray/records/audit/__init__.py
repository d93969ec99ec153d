"""The audit trail: who allowed what, when, by which way, in a file that is only ever appended to."""
