-- The row still has something to do, as is_live in core/states.py has it.
      (t.due_at IS NOT NULL OR t.status IN ('RUNNING', 'AWAY', 'BLOCKED'))
