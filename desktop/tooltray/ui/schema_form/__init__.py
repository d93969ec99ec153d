"""A form made of a JSON Schema: what a tool takes, as fields; whatever cannot be a field is JSON in one.

Above it: Try, and whoever else has a schema. Below it: the controls of the window.
"""
