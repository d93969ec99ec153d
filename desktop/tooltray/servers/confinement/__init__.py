"""Servers that may do less than their user: profiles, what is put around their processes, and what was refused to them."""
