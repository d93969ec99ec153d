"""The journal of calls, questions, approvals, starts, stops and failures, and its queries. `retention` removes old entries."""
