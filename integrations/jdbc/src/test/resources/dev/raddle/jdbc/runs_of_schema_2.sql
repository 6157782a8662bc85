-- Runs that version 2 of the schema had, written by the last library that needed it, with the plans of UpgradeTest:
-- "asleep" waits for a signal, "signalled" for the end of a sleep, "working" has failed once and has two of three
-- elements, "undoing" has compensated one of two nodes, "new" has not begun, and "ended" has.
INSERT INTO raddle_run (id, flow, version, parameter, status, epoch, worker, again_after, created_at, begun_at, waits_until)
  VALUES ('asleep', 'waits', '1', '\x53416e6e', 'WAITING', '2', 'old-worker', '0', '2026-11-25 22:04:48.590441+00', '2026-11-25 22:04:48.603538+00', '2125-06-19 22:04:51.778691+00');
INSERT INTO raddle_run (id, flow, version, parameter, status, epoch, worker, again_after, value, created_at, begun_at, ended_at)
  VALUES ('ended', 'waits', '1', '\x53457665', 'SUCCESS', '2', 'old-worker', '0', '\x536f6666657220746f2045766520617070726f766564206279204564', '2026-11-25 22:04:43.225574+00', '2026-11-25 22:04:43.405954+00', '2026-11-25 22:04:48.519769+00');
INSERT INTO raddle_run (id, flow, version, parameter, status, epoch, again_after, created_at)
  VALUES ('new', 'waits', '1', '\x53466179', 'WAITING', '0', '0', '2026-11-25 22:04:58.967132+00');
INSERT INTO raddle_run (id, flow, version, parameter, status, epoch, worker, again_after, created_at, begun_at, waits_until)
  VALUES ('signalled', 'waits', '1', '\x53426f62', 'WAITING', '1', 'old-worker', '0', '2026-11-25 22:04:52.098821+00', '2026-11-25 22:04:52.120185+00', '2026-11-25 22:04:55.203208+00');
INSERT INTO raddle_run (id, flow, version, parameter, status, epoch, worker, again_after, created_at, begun_at)
  VALUES ('undoing', 'undoes', '1', '\x5344616e', 'WAITING', '1', 'old-worker', '0', '2026-11-25 22:04:52.139109+00', '2026-11-25 22:04:52.158082+00');
INSERT INTO raddle_run (id, flow, version, parameter, status, epoch, worker, again_after, created_at, begun_at)
  VALUES ('working', 'works', '1', '\x53436964', 'WAITING', '1', 'old-worker', '0', '2026-11-25 22:04:52.136911+00', '2026-11-25 22:04:52.149648+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node)
  VALUES ('asleep', '1', '0', 'WORK', '2109670e794437b41de44cf27483d9e39f3cd31eaa2dfcabcdcf6920665c3da7');
INSERT INTO raddle_entry (run_id, epoch, number, kind, at)
  VALUES ('asleep', '1', '1', 'BEGUN', '2026-11-25 22:04:48.608501+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('asleep', '1', '2', 'NODE', 'asked', 'SUCCESS', 'ACTION', '1', '\x536f6666657220746f20416e6e');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, at)
  VALUES ('asleep', '1', '3', 'SLEEP', 'pause', '2026-11-25 22:04:51.660434+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count)
  VALUES ('asleep', '2', '0', 'NODE', 'pause', 'SUCCESS', 'ACTION', '0');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, at)
  VALUES ('asleep', '2', '1', 'DEADLINE', 'approved', '2125-06-19 22:04:51.772563+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node)
  VALUES ('ended', '1', '0', 'WORK', '2109670e794437b41de44cf27483d9e39f3cd31eaa2dfcabcdcf6920665c3da7');
INSERT INTO raddle_entry (run_id, epoch, number, kind, at)
  VALUES ('ended', '1', '1', 'BEGUN', '2026-11-25 22:04:44.798938+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('ended', '1', '2', 'NODE', 'asked', 'SUCCESS', 'ACTION', '1', '\x536f6666657220746f20457665');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, value)
  VALUES ('ended', '1', '3', 'SIGNAL', 'approved', '\x534564');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, at)
  VALUES ('ended', '1', '4', 'SLEEP', 'pause', '2026-11-25 22:04:48.241159+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count)
  VALUES ('ended', '2', '0', 'NODE', 'pause', 'SUCCESS', 'ACTION', '0');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, at)
  VALUES ('ended', '2', '1', 'DEADLINE', 'approved', '2125-06-19 22:04:48.440854+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('ended', '2', '2', 'NODE', 'approved', 'SUCCESS', 'ACTION', '0', '\x534564');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('ended', '2', '3', 'NODE', 'end', 'SUCCESS', 'ACTION', '1', '\x536f6666657220746f2045766520617070726f766564206279204564');
INSERT INTO raddle_entry (run_id, epoch, number, kind, state)
  VALUES ('ended', '2', '4', 'ENDED', 'SUCCESS');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node)
  VALUES ('signalled', '1', '0', 'WORK', '2109670e794437b41de44cf27483d9e39f3cd31eaa2dfcabcdcf6920665c3da7');
INSERT INTO raddle_entry (run_id, epoch, number, kind, at)
  VALUES ('signalled', '1', '1', 'BEGUN', '2026-11-25 22:04:52.144517+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('signalled', '1', '2', 'NODE', 'asked', 'SUCCESS', 'ACTION', '1', '\x536f6666657220746f20426f62');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, at)
  VALUES ('signalled', '1', '3', 'SLEEP', 'pause', '2026-11-25 22:04:55.174383+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, value)
  VALUES ('signalled', '1', '4', 'SIGNAL', 'approved', '\x53426561');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node)
  VALUES ('undoing', '1', '0', 'WORK', '823135a10a4d51ea3c7c54a960421b68d4c5d6ffec459f8c47952254704248f9');
INSERT INTO raddle_entry (run_id, epoch, number, kind, at)
  VALUES ('undoing', '1', '1', 'BEGUN', '2026-11-25 22:04:52.171792+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('undoing', '1', '2', 'NODE', 'reserve', 'SUCCESS', 'ACTION', '1', '\x53726f6f6d');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('undoing', '1', '3', 'NODE', 'pay', 'SUCCESS', 'ACTION', '1', '\x5370616964');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, count, failure_type, failure_message, failure_trace)
  VALUES ('undoing', '1', '4', 'ATTEMPT', 'handled', 'LAST', '1', 'java.lang.IllegalStateException', 'handled', 'at dev.raddle.jdbc.Fixture.lambda$undoes$4(Fixture.java:40)');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value, failure_type, failure_message, failure_trace)
  VALUES ('undoing', '1', '5', 'NODE', 'handled', 'SUCCESS', 'FALLBACK', '1', '\x5366616c6c6261636b', 'java.lang.IllegalStateException', 'handled', 'at dev.raddle.jdbc.Fixture.lambda$undoes$4(Fixture.java:40)');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, failure_type, failure_message, failure_trace)
  VALUES ('undoing', '1', '6', 'NODE', 'ship', 'FAILED', 'NONE', '1', 'java.lang.IllegalStateException', 'no ship', 'at dev.raddle.jdbc.Fixture.lambda$undoes$5(Fixture.java:41)');
INSERT INTO raddle_entry (run_id, epoch, number, kind, state)
  VALUES ('undoing', '1', '7', 'COMPENSATING', 'FAILED');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node)
  VALUES ('undoing', '1', '8', 'COMPENSATED', 'pay');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node)
  VALUES ('working', '1', '0', 'WORK', '175f2c50cd5e4f5b6c961d03c8845bcb2114654c08dd4e0db2afa6f8b91a44b6');
INSERT INTO raddle_entry (run_id, epoch, number, kind, at)
  VALUES ('working', '1', '1', 'BEGUN', '2026-11-25 22:04:52.173748+00');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('working', '1', '2', 'NODE', 'first', 'SUCCESS', 'ACTION', '1', '\x536669727374206f6620436964');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, value)
  VALUES ('working', '1', '3', 'NODE', 'items', 'SUCCESS', 'ACTION', '1', '\x4c612c622c63');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, count, value)
  VALUES ('working', '1', '4', 'ELEMENT', 'list', '0', '\x536121');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, count, value)
  VALUES ('working', '1', '5', 'ELEMENT', 'list', '1', '\x536221');
INSERT INTO raddle_entry (run_id, epoch, number, kind, node, count, failure_type, failure_message, failure_trace)
  VALUES ('working', '1', '6', 'ATTEMPT', 'retried', '1', 'java.lang.IllegalStateException', 'no luck yet', 'at dev.raddle.jdbc.Fixture.lambda$works$1(Fixture.java:30)');
INSERT INTO raddle_signal (run_id, node, value, sent_at)
  VALUES ('ended', 'approved', '\x534564', '2026-11-25 22:04:43.35781+00');
INSERT INTO raddle_signal (run_id, node, value, sent_at)
  VALUES ('signalled', 'approved', '\x53426561', '2026-11-25 22:04:52.108274+00');
INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, last_success, consecutive_failures, version)
  VALUES ('waits/1', 'asleep', '2125-06-19 22:04:51.777612+00', 'f', '2026-11-25 22:04:51.977721+00', '0', '5');
INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, version)
  VALUES ('waits/1', 'new', '2026-11-25 22:04:57.967132+00', 'f', '1');
INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, last_success, consecutive_failures, version)
  VALUES ('waits/1', 'signalled', '2026-11-25 22:04:55.202383+00', 'f', '2026-11-25 22:04:52.39217+00', '0', '3');
INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, last_success, consecutive_failures, version)
  VALUES ('undoes/1', 'undoing', '2026-11-25 22:04:58.852763+00', 'f', '2026-11-25 22:04:58.852763+00', '0', '3');
INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, last_success, consecutive_failures, version)
  VALUES ('works/1', 'working', '2026-11-25 22:04:53.873345+00', 'f', '2026-11-25 22:04:53.873345+00', '0', '3');
