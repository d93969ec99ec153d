"""A form made from a JSON Schema: a tool's arguments as fields; a value that cannot be a field is edited as JSON.

Begin with `schema_form`.
"""
