"""`run_steps`: chains of calls in which later calls take values of earlier ones; begin with `run_steps`. `chain` reads and checks what a
model wrote, `references` has the small language of values, `step_calls` the exchange of each call.
"""
