-- Raddle's runs of flows, for PostgreSQL 14 and later. Applied by FlowService with applySchema(), or by Flyway or
-- Liquibase. All names begin with raddle_; the tables are created in the first schema of the search path.

CREATE TABLE raddle_schema (
  version     int         NOT NULL PRIMARY KEY,
  applied_at  timestamptz NOT NULL DEFAULT now()
);

INSERT INTO raddle_schema (version) VALUES (1);

-- One row for each run. Its epoch counts the claims: a worker writes only while the epoch is the one of its claim.
CREATE TABLE raddle_run (
  id               text COLLATE "C" NOT NULL PRIMARY KEY,
  flow             text             NOT NULL,
  version          text             NOT NULL,
  parameter        bytea, -- encoded; null for null
  status           text             NOT NULL DEFAULT 'WAITING',
  epoch            bigint           NOT NULL DEFAULT 0,
  worker           text, -- of the last claim
  again            text[], -- the nodes that the latest request to run nodes again has named
  again_after      bigint           NOT NULL DEFAULT 0, -- the epoch at that request
  cancel_reason    text, -- not null if the run is to be cancelled
  value            bytea, -- of the run, encoded; null for null
  failure_type     text,
  failure_message  text,
  failure_trace    text,
  problem          text, -- why the run cannot continue at the moment
  created_at       timestamptz      NOT NULL DEFAULT now(),
  begun_at         timestamptz,
  ended_at         timestamptz
);

CREATE INDEX raddle_run_created ON raddle_run (created_at, id);
CREATE INDEX raddle_run_open ON raddle_run (created_at, id) WHERE ended_at IS NULL;
CREATE INDEX raddle_run_ended ON raddle_run (ended_at) WHERE ended_at IS NOT NULL;

-- The journal. The entries of a run are in the order of epoch and number.
CREATE TABLE raddle_entry (
  run_id           text COLLATE "C" NOT NULL,
  epoch            bigint           NOT NULL,
  number           int              NOT NULL,
  kind             text             NOT NULL,
  node             text,
  state            text,
  via              text,
  count            int, -- an attempt, the index of an element, or a number of elements
  at               timestamptz,
  value            bytea, -- encoded; null for null
  failure_type     text,
  failure_message  text,
  failure_trace    text,
  nodes            text[],
  PRIMARY KEY (run_id, epoch, number)
);

-- Signals that were sent to runs; the first one for a node counts.
CREATE TABLE raddle_signal (
  run_id   text COLLATE "C" NOT NULL,
  node     text             NOT NULL,
  value    bytea,
  sent_at  timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, node)
);

-- Which worker can run which versions, and when it was alive.
CREATE TABLE raddle_worker (
  name     text        NOT NULL,
  flow     text        NOT NULL,
  version  text        NOT NULL,
  seen_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (flow, version, name)
);

-- The table of db-scheduler 16, which claims runs, keeps claims alive and detects dead workers.
CREATE TABLE raddle_task (
  task_name             text             NOT NULL,
  task_instance         text COLLATE "C" NOT NULL,
  task_data             bytea,
  execution_time        timestamptz      NOT NULL,
  picked                boolean          NOT NULL,
  picked_by             text,
  last_success          timestamptz,
  last_failure          timestamptz,
  consecutive_failures  int,
  last_heartbeat        timestamptz,
  version               bigint           NOT NULL,
  priority              smallint,
  PRIMARY KEY (task_name, task_instance)
);

CREATE INDEX raddle_task_due ON raddle_task (execution_time);
CREATE INDEX raddle_task_heartbeat ON raddle_task (last_heartbeat) WHERE picked;
