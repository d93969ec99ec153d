"""What has happened, on disk: the journal, the structured log, the audit file, traces.

Begin with `journal.journal`.
"""
