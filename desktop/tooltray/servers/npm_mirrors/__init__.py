"""npm registries and mirrors: measured, chosen, remembered.

Begin with `npm_registries`; `measuring` judges, and `probe` takes the times.
"""
