"""The parts of the Win32 API that Python itself lacks, by ctypes: security, processes, jobs and named pipes.

Each module exists only on Windows and begins with an `assert` of it: a type checker for another system skips it.

Begin with `processes`.
"""
