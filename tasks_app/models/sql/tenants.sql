-- tenants: the one that a task belongs to if none is named.
INSERT INTO punctual_tenant (name) VALUES ('default');
