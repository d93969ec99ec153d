"""The common base of everything that serves HTTP: a bound address, a guard, responses, event streams.

Begin with `site`; `guard` refuses.
"""
