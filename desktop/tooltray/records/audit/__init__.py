"""The audit trail: who allowed or refused what, when, and in which way, in a file that only grows."""
