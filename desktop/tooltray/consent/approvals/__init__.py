"""Approval of tool calls: rules, grants, and the questions to the user. docs/architecture.md has the path of a call through them.

Begin with `approval_rules`, which decides whether a call asks; `approvals` asks the user, and `grant_book` keeps longer approvals and holds
a tool whose definition has changed since.

Rules of `autoApprove` are evaluated in catalogue/auto_approve only, rules on arguments in rule_coverage only.
"""
