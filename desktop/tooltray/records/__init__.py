"""Records on disk: the journal, the structured log, the audit trail, traces.

Begin with `journal.journal`.
"""
