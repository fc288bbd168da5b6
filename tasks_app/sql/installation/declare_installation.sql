-- declare_installation: an installation has a row, made by whoever looks first.
INSERT INTO punctual_installation (id) VALUES (1) ON CONFLICT (id) DO NOTHING
