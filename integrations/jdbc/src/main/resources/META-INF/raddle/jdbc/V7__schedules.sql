-- Schedules of flows. Each has a row in raddle_task, too, which only says when to look at this one.
CREATE TABLE raddle_schedule (
  name       text COLLATE "C" NOT NULL PRIMARY KEY,
  flow       text             NOT NULL,
  cron       text             NOT NULL,
  zone       text             NOT NULL,
  overlap    text             NOT NULL,
  is_paused  boolean          NOT NULL DEFAULT false,
  next_at    timestamptz      NOT NULL, -- the moment of the next round
  last_run   text COLLATE "C", -- the id of the run of the latest round
  problem    text -- why the next round, which is due, could not be submitted; it keeps its moment until it is
);

INSERT INTO raddle_schema (version) VALUES (7);
