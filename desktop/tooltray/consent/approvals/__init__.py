"""Approval of tool calls: rules, grants, and the questions to the user. docs/architecture.md has the path of a call through them.

Rules of `autoApprove` are evaluated in catalogue/auto_approve only, rules on arguments in rule_coverage only.
"""
