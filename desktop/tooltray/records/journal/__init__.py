"""The journal of calls, questions, approvals, starts, stops and failures, and its queries. `journal_file` removes old entries."""
