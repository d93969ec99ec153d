"""How long a window or a sheet that asks for consent takes no answer after each change."""

GUARD_MS = 700  # longer than it takes to notice that something came under the pointer
