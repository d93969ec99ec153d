"""The doctor: why a server does not run, and how to fix it. Begin with `doctor`; `remedies` has the ways to fix it."""
