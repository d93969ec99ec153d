"""Projects' folders and files: what waits for approval in them, what is trusted, what is wrong, and reading them again.

Begin with `projects_tab`.
"""
