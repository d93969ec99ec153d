"""A form made of a JSON Schema: what a tool takes, as fields; whatever cannot be a field is JSON in one."""
