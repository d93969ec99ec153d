"""The page AI clients: tabs of connected ones, of those on this computer and of profiles, and their sheets."""
