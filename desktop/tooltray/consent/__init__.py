"""What the user allows: approvals of calls, tokens, skills, and the confirmation of what a command or a program wants to allow.

Begin with `approvals.approvals`, which decides about a call, and `askers`, which confirm what verbs ask by
`foundation.confirmation.confirm_widening`.
"""
