-- Runs that have lost their workers are counted, and in the end STUCK.

-- How often the run has lost its worker without a record in between.
ALTER TABLE raddle_run ADD COLUMN losses int NOT NULL DEFAULT 0;

INSERT INTO raddle_schema (version) VALUES (4);
