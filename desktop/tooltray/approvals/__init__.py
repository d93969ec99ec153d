"""Approval of tool calls: rules, grants, and the questions to the person."""
