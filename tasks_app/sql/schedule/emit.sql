-- emit: events of an app about its own rows. They are no task's, so task_id stays empty.
INSERT INTO punctual_outbox (tenant, event, payload)
SELECT %(tenant)s, %(event)s, payload::jsonb FROM unnest(%(payloads)s::text[]) AS given(payload)
