"""The selection that each AI client sees of all tools: modes, profiles, lazy servers, search.

Begin with `modes`, which decides between a full list and search; `views` makes the list, `meta_calls` answers `find_tools` and similar
tools, `search` ranks.
"""
