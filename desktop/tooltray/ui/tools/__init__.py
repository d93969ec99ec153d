"""Everything that servers offer in one place: tools, to be switched and tried; prompts and resources, to be seen.

Begin with `tools_tab`.
"""
