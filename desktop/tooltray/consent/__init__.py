"""The user's consent: approvals of calls, tokens, skills, and confirmations of requests by commands and programs.

Begin with `approvals.approvals`, which decides about calls that the settings do not allow, and `askers`, which confirm requests of verbs
by `foundation.confirm_widening.confirm_widening`.
"""
