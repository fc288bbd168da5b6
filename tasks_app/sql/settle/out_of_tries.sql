-- A further failure is the last: by the number of them, or, for what is retried for a time, by the time it was asked for.
(CASE WHEN t.retry_for IS NULL THEN t.attempt >= t.max_retry
      ELSE statement_timestamp() > t.execute_time + t.retry_for END)
