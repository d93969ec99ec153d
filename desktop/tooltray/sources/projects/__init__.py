"""Projects: the folder of each session, the allowed folders, and which copies of servers that start for a project are still needed.

Begin with `projects`; `project_sources` finds a session's project.
"""
