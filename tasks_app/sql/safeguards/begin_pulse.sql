-- begin_pulse: the first beat begins with what ends from now on; does nothing if one has.
INSERT INTO punctual_pulse_reader (id) VALUES (1)
ON CONFLICT DO NOTHING
