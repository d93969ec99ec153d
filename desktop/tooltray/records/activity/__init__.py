"""The structured log, and counts of calls for the servers' cards."""
