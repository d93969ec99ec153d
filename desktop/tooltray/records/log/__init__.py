"""The structured log, and counts of calls for the servers' cards. Begin with `structured_log`.

`masking` has `Mask`, which removes known secrets from texts, also for other packages. The activity journal is `records.journal`.
"""
