"""What the product needs of the Win32 API beyond Python's own, by ctypes: security, processes, jobs, named pipes and the registry.

The lowest layer. Each module exists on Windows alone and begins with an `assert` that says so: a type checker for another system skips it.
"""
