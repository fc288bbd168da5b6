"""Drills: a disaster on purpose, on a stack that lives as long as it, and what it cost.

`manage.py drill` starts each in a process of its own (`python -m tasks_app.drills NAME`), which knows nothing of the
installation: its environment is made anew, and its settings are settings.py. What the processes of that stack did is
written down outside of its database, in journals, and judging.py makes figures of that.
"""
