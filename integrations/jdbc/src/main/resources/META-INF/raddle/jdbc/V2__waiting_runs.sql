-- Runs that only sleep or wait for a signal are executed by no worker.

-- Until when such a run waits; infinity if only a signal can continue it.
ALTER TABLE raddle_run ADD COLUMN waits_until timestamptz;

INSERT INTO raddle_schema (version) VALUES (2);
