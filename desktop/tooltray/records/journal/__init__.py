"""The journal of calls, questions, approvals, starts, stops and failures, on disk, and its queries."""
