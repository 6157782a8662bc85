-- Lists of stuck runs and of the runs of a flow.

CREATE INDEX raddle_run_stuck ON raddle_run (created_at, id) WHERE status = 'STUCK';
CREATE INDEX raddle_run_flow ON raddle_run (flow, created_at, id);

INSERT INTO raddle_schema (version) VALUES (5);
