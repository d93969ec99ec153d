"""npm registries and mirrors: measured, chosen, remembered."""
