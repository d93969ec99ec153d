"""The link to the engine's thread: one QObject for each class of the engine's presenter. Views know these and nothing else of it.

Begin with `link`.
"""
