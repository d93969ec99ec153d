"""Results that are too large for a client: cut, saved on the disk for a day, and read page by page.

Begin with `result_fitting`, which cuts; `result_store` saves, and `result_reading` returns pages.
"""
