"""The pages of AI clients and of profiles, and their sheets."""
