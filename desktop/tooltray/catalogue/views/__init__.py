"""The selection that each AI client sees of all tools: modes, profiles, lazy servers, search."""
