-- minute_figures: what each task type did in a minute, partitioned by minute.
CREATE TABLE punctual_minute_figures (
    minute timestamptz NOT NULL,
    task_type varchar(100) COLLATE "C" NOT NULL,
    batches integer NOT NULL,
    ok integer NOT NULL,
    failed integer NOT NULL,
    run_us bigint NOT NULL,
    lateness integer[] NOT NULL,
    returned integer DEFAULT 0 NOT NULL,
    PRIMARY KEY (minute, task_type)
) PARTITION BY RANGE (minute);
CREATE TABLE punctual_minute_figures_before PARTITION OF punctual_minute_figures
    FOR VALUES FROM (MINVALUE) TO (date_trunc('day', now(), 'UTC') + interval '3 days');
CREATE TABLE punctual_minute_figures_default PARTITION OF punctual_minute_figures DEFAULT;
CREATE INDEX punctual_minute_figures_default_key ON punctual_minute_figures_default (minute);
