"""The only writer of a task's status. Every write repeats its precondition; "0 rows" is an answer."""
