"""The journal of calls, questions, approvals, starts, stops and failures, and its queries.

Begin with `journal`; `call_figures` has how often and how long tools were called, and `retention` removes old entries.
"""
