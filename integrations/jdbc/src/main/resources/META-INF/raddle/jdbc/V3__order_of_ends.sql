-- The ends of nodes take effect in the order in which the run has numbered them.

-- The number; null in rows of earlier versions, whose order is that of the rows.
ALTER TABLE raddle_entry ADD COLUMN place bigint;

INSERT INTO raddle_schema (version) VALUES (3);
