-- The context of the submission of a run, such as its trace: names and values in turn. Null if there is none.
ALTER TABLE raddle_run ADD COLUMN context text[];

INSERT INTO raddle_schema (version) VALUES (6);
