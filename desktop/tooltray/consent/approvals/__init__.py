"""Approval of tool calls: rules, grants, and the questions to the person.

A call passes, and the first yes ends it: ApprovalRules (the settings, and FlowGuard against them); Approvals, which asks LastingYeses
(RecentYeses, GrantBook, CallRules) and WaitingApprovals for a yes to this call alone; the person, by ApprovalRounds; RefusedCalls, where
nobody can be asked. Rules of `autoApprove` are evaluated in catalogue/approval alone, rules on arguments in rule_coverage alone.

Modules named rule_* are about rules on arguments: coverage and paths evaluate them, maker makes them of a call, words says them, grants
keeps those that a person has made.
"""
