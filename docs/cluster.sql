-- The catalog of a blkcast cluster in PostgreSQL 14 or later.
--
-- `blkcast cluster init` runs the migrations below that a database lacks, each in one transaction. A migration
-- begins with a line "-- migration N" and is frozen: databases have run its text, so that not even a comment in it is
-- changed, and tests/golden/cluster-migrations has the hash of each. Whoever wants to change a table, a view or a
-- function adds a migration at the end. A function that changed therefore stands here again, each time with its whole
-- text: take() in 1 and 3, make_day() in 1, 4 and 7. A database has the last one, because CREATE OR REPLACE FUNCTION
-- replaces those before. The program works with exactly the version that it was built for, and says so when it finds
-- another one.
--
-- Times of requests and windows are nanoseconds since 1970 (bigint) or timestamptz. What a host says about itself
-- (its clock, its devices) is its own word; received is the clock of this database.
--
-- migration 1
CREATE SCHEMA blkcast;

CREATE TABLE blkcast.version(
  version int PRIMARY KEY,
  id uuid NOT NULL DEFAULT gen_random_uuid(), -- that of version 1 names the catalog: the object "owner" holds it
  applied timestamptz NOT NULL DEFAULT now());

-- One row for each guest. bytes and segments_of_day are what quotas look at.
CREATE TABLE blkcast.host(
  host text COLLATE "C" PRIMARY KEY,
  bytes bigint NOT NULL DEFAULT 0,          -- of segments and summaries in the object store
  day date,                                 -- the last day (UTC) of a receipt
  segments_of_day bigint NOT NULL DEFAULT 0,
  first_seen timestamptz NOT NULL DEFAULT now(),
  last_seen timestamptz NOT NULL DEFAULT now());

-- One row for each run of an agent. taken holds every sequence number that was ever acknowledged: its first gap
-- is the watermark, and its gaps are the holes. It never shrinks when retention removes segments, so that a late
-- retry of a removed segment is known. Whoever commits holds the row's lock, which makes a name unique.
CREATE TABLE blkcast.stream(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text COLLATE "C" NOT NULL REFERENCES blkcast.host,
  boot_id text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  taken int8multirange NOT NULL DEFAULT '{}',
  commits bigint NOT NULL DEFAULT 1,        -- counts up at every acknowledgement, also of what is there already
  UNIQUE (host, boot_id, epoch));

-- Objects that hold segments one after the other (formats/segment/segment.md). segments and used_bytes count
-- those that the catalog still names.
CREATE TABLE blkcast.bundle(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL UNIQUE,
  bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  segments bigint NOT NULL,
  used_bytes bigint NOT NULL,
  generation int NOT NULL DEFAULT 0,        -- 0: as it was received; else how often compaction copied its segments
  day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,     -- when its first segments were received
  compact_after timestamptz,                -- until then compaction leaves it alone, because it is damaged
  made timestamptz NOT NULL DEFAULT now());

-- day is derived from the segment's own clock where that lies within 400 days before and 2 days after the clock of
-- the database, else it is 0001-01-01. The lock of the stream keeps a name unique across days.
CREATE TABLE blkcast.segment(
  day date NOT NULL,
  stream bigint NOT NULL,
  sequence bigint NOT NULL,
  hash bytea NOT NULL,                      -- XXH3-128 of its bytes
  bundle bigint NOT NULL,
  at bigint NOT NULL,                       -- offset in the bundle
  bytes bigint NOT NULL,
  requests bigint NOT NULL,
  captured bigint NOT NULL,
  untimed bigint NOT NULL,
  source int NOT NULL,
  layer int NOT NULL,
  anchors bigint[] NOT NULL,                -- monotonic, boot-time and real-time clock at begin, then at end
  first_real bigint NOT NULL,
  last_real bigint NOT NULL,
  received bigint NOT NULL,
  devices jsonb NOT NULL,                   -- [device, name, size_bytes, [requests by operation], [bytes by operation]]
  losses jsonb NOT NULL,                    -- [cause, count, count_known, device, begin_real, end_real]
  PRIMARY KEY (stream, sequence, day)) PARTITION BY RANGE (day);
CREATE TABLE blkcast.segment_other PARTITION OF blkcast.segment DEFAULT;
CREATE INDEX segment_bundle ON blkcast.segment(bundle);
CREATE INDEX bundle_empty ON blkcast.bundle(id) WHERE segments = 0;

-- What retention left of segments (formats/summary/). sequences and hashes name the segments that it stands for, and
-- are the tombstones that tell a late retry from another content.
CREATE TABLE blkcast.summary(
  stream bigint NOT NULL REFERENCES blkcast.stream,
  first bigint NOT NULL,
  last bigint NOT NULL,
  generation bigint NOT NULL,
  key text NOT NULL UNIQUE,
  bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  requests bigint NOT NULL,
  captured bigint NOT NULL,
  untimed bigint NOT NULL,
  source int NOT NULL,
  layer int NOT NULL,
  anchors bigint[] NOT NULL,
  first_real bigint NOT NULL,
  last_real bigint NOT NULL,
  segments bigint NOT NULL,
  segment_bytes bigint NOT NULL,
  dropped bigint NOT NULL,
  dropped_begin bigint NOT NULL,
  dropped_end bigint NOT NULL,
  received bigint NOT NULL,
  devices jsonb NOT NULL,
  losses jsonb NOT NULL,
  sequences bigint[] NOT NULL,
  hashes bytea[] NOT NULL,
  PRIMARY KEY (stream, first));

-- One row for each window of each device, as the agents computed it. Null is unknown. Times of response are in
-- seconds. A day's partition can be dropped at any time: nothing but dashboards reads it.
CREATE TABLE blkcast.profile(
  day date NOT NULL,
  host text COLLATE "C" NOT NULL,
  device text NOT NULL,                     -- "8:0"
  device_name text NOT NULL,                -- "sda"
  begin_at timestamptz NOT NULL,
  end_at timestamptz NOT NULL,
  grade text NOT NULL,                      -- 'A' (whole) to 'E'
  requests_per_s double precision,
  read_per_s double precision,
  write_per_s double precision,
  read_bytes_per_s double precision,
  write_bytes_per_s double precision,
  read_mean_s double precision,
  read_p50_s double precision,
  read_p95_s double precision,
  read_p99_s double precision,
  write_mean_s double precision,
  write_p50_s double precision,
  write_p95_s double precision,
  write_p99_s double precision,
  sequential_ratio double precision,
  in_flight_mean double precision,
  lost bigint NOT NULL,
  errors bigint) PARTITION BY RANGE (day);
CREATE TABLE blkcast.profile_other PARTITION OF blkcast.profile DEFAULT;
CREATE INDEX profile_host ON blkcast.profile(host, begin_at);

-- Objects that nothing names any more, and when they may be deleted: who reads them now must be able to end.
CREATE TABLE blkcast.garbage(
  key text PRIMARY KEY,
  after timestamptz NOT NULL,
  why text NOT NULL);

-- Who may compact or retain now. A holder that was held up sees another token and changes nothing.
CREATE TABLE blkcast.lease(
  name text PRIMARY KEY,
  holder text NOT NULL,
  token bigint NOT NULL,
  until timestamptz NOT NULL);

-- For dashboards: what was lost, and what each host has.
CREATE VIEW blkcast.loss AS
  SELECT t.host, t.boot_id, t.epoch, s.sequence, s.day, (l->>0)::int AS cause, (l->>1)::bigint AS count,
    (l->>2)::int <> 0 AS count_known, (l->>3)::bigint AS device, to_timestamp((l->>4)::bigint / 1e9) AS begin_at,
    to_timestamp((l->>5)::bigint / 1e9) AS end_at
  FROM blkcast.segment s JOIN blkcast.stream t ON t.id = s.stream, jsonb_array_elements(s.losses) l;
CREATE VIEW blkcast.watermark AS
  SELECT host, boot_id, epoch, CASE WHEN isempty(holes) THEN next ELSE lower(holes) END AS watermark, next, holes
  FROM (SELECT *, int8multirange(int8range(0, next)) - taken AS holes
    FROM (SELECT *, coalesce(upper(taken), 0) AS next FROM blkcast.stream) a) b;

-- The day of a partition for a time that a host gave; see table segment.
CREATE FUNCTION blkcast.day_of(real_ns bigint) RETURNS date LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN real_ns / 1000000000 BETWEEN extract(epoch FROM now()) - 400 * 86400
      AND extract(epoch FROM now()) + 2 * 86400
    THEN (to_timestamp(real_ns / 1000000000) AT TIME ZONE 'UTC')::date ELSE date '0001-01-01' END $$;

-- Makes the partitions of a day. It is called before the transaction that stores, so that nobody waits in it.
CREATE FUNCTION blkcast.make_day(d date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  child text;
BEGIN
  IF d < date '2000-01-01' THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('blkcast.make_day'));
  FOREACH parent IN ARRAY ARRAY['segment', 'profile'] LOOP
    child := parent || to_char(d, '"_"YYYYMMDD');
    CONTINUE WHEN to_regclass('blkcast.' || child) IS NOT NULL;
    EXECUTE format('CREATE TABLE blkcast.%I (LIKE blkcast.%I INCLUDING DEFAULTS)', child, parent);
    EXECUTE format('ALTER TABLE blkcast.%I ATTACH PARTITION blkcast.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
      d, d + 1);
  END LOOP;
END $$;

-- Which of the segments are acknowledged already: their numbers in the list. It promises nothing.
CREATE FUNCTION blkcast.known(b jsonb) RETURNS SETOF int LANGUAGE sql STABLE AS $$
  SELECT x.i FROM jsonb_to_recordset(b->'segments') AS x(i int, host text, boot_id text, epoch bigint, sequence bigint)
    JOIN blkcast.stream t ON t.host = x.host AND t.boot_id = x.boot_id AND t.epoch = x.epoch AND t.taken @> x.sequence $$;

-- Takes the segments of one bundle. The verdicts, by number in the list: 0 stored now; 1 stored before with the same
-- content; 2 stored before with another content; 3 beyond the host's quota of bytes; 4 beyond its quota of the day; 5
-- the stream has too many holes. A segment that known() named has no bytes in the bundle, and its at is null: if it
-- was forgotten since, the transaction ends, and the caller tries again. Every stream named is written, so that the
-- commit of this transaction is one for which the standbys are waited for, also where all segments were there before.
CREATE FUNCTION blkcast.take(b jsonb) RETURNS TABLE(i int, verdict int) LANGUAGE plpgsql AS $$
DECLARE
  s record;
  t record;
  h blkcast.host;
  found_hash bytea;
  bundle_id bigint;
  nr_stored bigint := 0;
  used bigint := 0;
  d date;
  today date := (now() AT TIME ZONE 'UTC')::date;
  now_ns bigint := (extract(epoch FROM clock_timestamp()) * 1e9)::bigint;
BEGIN
  IF b->>'key' IS NOT NULL THEN
    INSERT INTO blkcast.bundle(key, bytes, sha256, segments, used_bytes)
      VALUES (b->>'key', (b->>'bytes')::bigint, decode(b->>'sha256', 'hex'), 0, 0) RETURNING id INTO bundle_id;
  END IF;
  FOR s IN SELECT * FROM jsonb_to_recordset(b->'segments') AS x(i int, host text, boot_id text, epoch bigint,
      sequence bigint, hash text, at bigint, bytes bigint, requests bigint, captured bigint, untimed bigint, source int,
      layer int, anchors bigint[], first_real bigint, last_real bigint, devices jsonb, losses jsonb, profiles jsonb)
      ORDER BY x.host COLLATE "C", x.boot_id COLLATE "C", x.epoch, x.sequence LOOP
    i := s.i;
    IF h.host IS DISTINCT FROM s.host THEN
      INSERT INTO blkcast.host AS o (host, day) VALUES (s.host, today)
        ON CONFLICT (host) DO UPDATE SET last_seen = now(), day = today,
          segments_of_day = CASE WHEN o.day = today THEN o.segments_of_day ELSE 0 END
        RETURNING o.* INTO h;
    END IF;
    INSERT INTO blkcast.stream AS o (host, boot_id, epoch) VALUES (s.host, s.boot_id, s.epoch)
      ON CONFLICT (host, boot_id, epoch) DO UPDATE SET commits = o.commits + 1 RETURNING o.id, o.taken INTO t;
    IF t.taken @> s.sequence THEN
      SELECT g.hash INTO found_hash FROM blkcast.segment g WHERE g.stream = t.id AND g.sequence = s.sequence;
      IF NOT FOUND THEN
        SELECT m.hashes[array_position(m.sequences, s.sequence)] INTO found_hash FROM blkcast.summary m
          WHERE m.stream = t.id AND s.sequence BETWEEN m.first AND m.last AND m.sequences @> ARRAY[s.sequence];
      END IF;
      -- What was removed without a trace of its content is taken for the same.
      verdict := CASE WHEN found_hash IS NULL OR found_hash = decode(s.hash, 'hex') THEN 1 ELSE 2 END;
      RETURN NEXT;
      CONTINUE;
    END IF;
    verdict := CASE WHEN (b->>'host_bytes')::bigint > 0 AND h.bytes + s.bytes > (b->>'host_bytes')::bigint THEN 3
      WHEN (b->>'host_segments')::bigint > 0 AND h.segments_of_day >= (b->>'host_segments')::bigint THEN 4
      WHEN pg_column_size(t.taken) > 200000 THEN 5 ELSE 0 END;
    IF verdict = 0 AND (bundle_id IS NULL OR s.at IS NULL) THEN
      RAISE EXCEPTION 'segment %/%/%/% was not found where it was looked up before', s.host, s.boot_id, s.epoch,
        s.sequence USING ERRCODE = '40001';
    END IF;
    IF verdict = 0 THEN
      d := blkcast.day_of(s.anchors[3]);
      INSERT INTO blkcast.segment VALUES (d, t.id, s.sequence, decode(s.hash, 'hex'), bundle_id, s.at, s.bytes,
        s.requests, s.captured, s.untimed, s.source, s.layer, s.anchors, s.first_real, s.last_real, now_ns, s.devices,
        s.losses);
      UPDATE blkcast.stream SET taken = taken + int8multirange(int8range(s.sequence, s.sequence + 1)) WHERE id = t.id;
      UPDATE blkcast.host SET bytes = bytes + s.bytes, segments_of_day = segments_of_day + 1 WHERE host = s.host
        RETURNING * INTO h;
      INSERT INTO blkcast.profile SELECT blkcast.day_of((extract(epoch FROM p.begin_at) * 1000000000)::bigint), s.host,
        p.device, p.device_name, p.begin_at, p.end_at, p.grade, p.requests_per_s, p.read_per_s, p.write_per_s,
        p.read_bytes_per_s, p.write_bytes_per_s, p.read_mean_s, p.read_p50_s, p.read_p95_s, p.read_p99_s,
        p.write_mean_s, p.write_p50_s, p.write_p95_s, p.write_p99_s, p.sequential_ratio, p.in_flight_mean, p.lost,
        p.errors FROM jsonb_populate_recordset(NULL::blkcast.profile, s.profiles) p;
      nr_stored := nr_stored + 1;
      used := used + s.bytes;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF nr_stored > 0 THEN
    UPDATE blkcast.bundle SET segments = nr_stored, used_bytes = used WHERE id = bundle_id;
  ELSIF bundle_id IS NOT NULL THEN
    DELETE FROM blkcast.bundle WHERE id = bundle_id;
    INSERT INTO blkcast.garbage VALUES (b->>'key', now() + interval '1 hour', 'every segment in it was there before');
  END IF;
END $$;

-- Takes the lease for some seconds; its token, or null where another holds it.
CREATE FUNCTION blkcast.take_lease(n text, who text, seconds int) RETURNS bigint LANGUAGE sql AS $$
  INSERT INTO blkcast.lease AS l VALUES (n, who, 1, now() + seconds * interval '1 second')
    ON CONFLICT (name) DO UPDATE SET holder = who, until = excluded.until,
      token = l.token + CASE WHEN l.holder = who AND l.until >= now() THEN 0 ELSE 1 END
    WHERE l.until < now() OR l.holder = who
    RETURNING token $$;

-- Ends the transaction where the lease went to another holder. The row stays locked until the commit.
CREATE FUNCTION blkcast.check_lease(n text, who text, its_token bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM blkcast.lease WHERE name = n AND holder = who AND token = its_token AND until >= now() FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the lease % went to another process meanwhile', n USING ERRCODE = '40001';
  END IF;
END $$;

-- Removes segments of a stream and counts them off their bundles; bundles that are empty then become garbage.
CREATE FUNCTION blkcast.remove(stream_id bigint, seqs bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  nr bigint;
BEGIN
  WITH gone AS (DELETE FROM blkcast.segment WHERE stream = stream_id AND sequence = ANY (seqs) RETURNING bundle, bytes),
    less AS (UPDATE blkcast.bundle o SET segments = o.segments - g.nr, used_bytes = o.used_bytes - g.bytes
      FROM (SELECT bundle, count(*) AS nr, sum(bytes) AS bytes FROM gone GROUP BY bundle) g WHERE o.id = g.bundle
      RETURNING o.id),
    host AS (UPDATE blkcast.host SET bytes = bytes - coalesce((SELECT sum(bytes) FROM gone), 0)
      WHERE host = (SELECT t.host FROM blkcast.stream t WHERE t.id = stream_id) RETURNING 1)
  SELECT count(*) INTO nr FROM gone;
  WITH empty AS (DELETE FROM blkcast.bundle WHERE segments = 0 RETURNING key)
    INSERT INTO blkcast.garbage SELECT key, now() + interval '1 hour', 'no segment of it is left' FROM empty
    ON CONFLICT (key) DO NOTHING;
  RETURN nr;
END $$;

-- Takes a segment out as if it had never come: for an import that could not be finished. Compaction and retention,
-- which hold the lease's row until their commit, do not run at the same moment.
CREATE FUNCTION blkcast.forget(its_host text, its_boot text, its_epoch bigint, seq bigint) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  stream_id bigint;
BEGIN
  PERFORM 1 FROM blkcast.lease WHERE name = 'keep' FOR UPDATE;
  SELECT id INTO stream_id FROM blkcast.stream WHERE host = its_host AND boot_id = its_boot AND epoch = its_epoch
    FOR UPDATE;
  IF stream_id IS NOT NULL AND blkcast.remove(stream_id, ARRAY[seq]) > 0 THEN
    UPDATE blkcast.stream SET taken = taken - int8multirange(int8range(seq, seq + 1)) WHERE id = stream_id;
  END IF;
END $$;

-- Puts a summary in the place of segments and earlier summaries, for the holder of the lease. replaced holds pairs of
-- first and generation: a pass that read a standby which was behind must not replace a generation that it never saw.
CREATE FUNCTION blkcast.summarize(b jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  m record;
  stream_id bigint;
  nr bigint;
  nr_replaced bigint := 0;
BEGIN
  PERFORM blkcast.check_lease('keep', b->>'holder', (b->>'token')::bigint);
  SELECT id INTO STRICT stream_id FROM blkcast.stream WHERE host = b->>'host' AND boot_id = b->>'boot_id'
    AND epoch = (b->>'epoch')::bigint FOR UPDATE;
  nr := blkcast.remove(stream_id, ARRAY(SELECT jsonb_array_elements_text(b->'removed')::bigint));
  IF nr <> jsonb_array_length(b->'removed') THEN
    RAISE EXCEPTION 'segments of %/%/% went away meanwhile', b->>'host', b->>'boot_id', b->>'epoch'
      USING ERRCODE = '40001';
  END IF;
  FOR m IN DELETE FROM blkcast.summary o USING jsonb_array_elements(b->'replaced') v WHERE o.stream = stream_id
      AND o.first = (v->>0)::bigint AND o.generation = (v->>1)::bigint RETURNING o.key, o.bytes LOOP
    nr_replaced := nr_replaced + 1;
    INSERT INTO blkcast.garbage VALUES (m.key, now() + interval '1 hour', 'a later summary has all of it')
      ON CONFLICT (key) DO NOTHING;
    UPDATE blkcast.host SET bytes = bytes - m.bytes WHERE host = b->>'host';
  END LOOP;
  IF nr_replaced <> jsonb_array_length(b->'replaced') THEN
    RAISE EXCEPTION 'summaries of %/%/% were replaced meanwhile', b->>'host', b->>'boot_id', b->>'epoch'
      USING ERRCODE = '40001';
  END IF;
  INSERT INTO blkcast.summary SELECT stream_id, x.first, x.last, x.generation, x.key, x.bytes, decode(x.sha256, 'hex'),
    x.requests, x.captured, x.untimed, x.source, x.layer, x.anchors, x.first_real, x.last_real, x.segments,
    x.segment_bytes, x.dropped, x.dropped_begin, x.dropped_end, (extract(epoch FROM clock_timestamp()) * 1e9)::bigint,
    x.devices, x.losses, x.sequences, ARRAY(SELECT decode(v, 'hex') FROM jsonb_array_elements_text(x.hashes) v)
    FROM jsonb_to_record(b->'summary') AS x(first bigint, last bigint, generation bigint, key text, bytes bigint,
      sha256 text, requests bigint, captured bigint, untimed bigint, source int, layer int, anchors bigint[],
      first_real bigint, last_real bigint, segments bigint, segment_bytes bigint, dropped bigint, dropped_begin bigint,
      dropped_end bigint, devices jsonb, losses jsonb, sequences bigint[], hashes jsonb);
  UPDATE blkcast.host SET bytes = bytes + (b->'summary'->>'bytes')::bigint WHERE host = b->>'host';
END $$;

-- Moves segments into a bundle that compaction wrote, where they still lie where compaction read them. Segments
-- that went away meanwhile stay away. Returns how many were moved. No stream is locked, so that nobody who stores
-- waits for it: a name and its hash stay the same, and whoever removes a segment finds it in either bundle.
CREATE FUNCTION blkcast.compact(b jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  bundle_id bigint;
  nr bigint;
  moved_bytes bigint;
BEGIN
  PERFORM blkcast.check_lease('keep', b->>'holder', (b->>'token')::bigint);
  INSERT INTO blkcast.bundle(key, bytes, sha256, segments, used_bytes, generation, day)
    VALUES (b->>'key', (b->>'bytes')::bigint, decode(b->>'sha256', 'hex'), 0, 0, (b->>'generation')::int,
      (b->>'day')::date) RETURNING id INTO bundle_id;
  WITH want AS MATERIALIZED (SELECT (v->>0)::bigint AS stream, (v->>1)::bigint AS sequence, (v->>2)::bigint AS bundle,
      (v->>3)::bigint AS at, (v->>4)::date AS day FROM jsonb_array_elements(b->'segments') v),
    moved AS (UPDATE blkcast.segment g SET bundle = bundle_id, at = w.at FROM want w
      WHERE g.stream = w.stream AND g.sequence = w.sequence AND g.day = w.day AND g.bundle = w.bundle
      RETURNING w.bundle AS was, g.bytes),
    less AS (UPDATE blkcast.bundle o SET segments = o.segments - g.nr, used_bytes = o.used_bytes - g.bytes
      FROM (SELECT was, count(*) AS nr, sum(bytes) AS bytes FROM moved GROUP BY was) g WHERE o.id = g.was RETURNING 1)
  SELECT count(*), coalesce(sum(bytes), 0) INTO nr, moved_bytes FROM moved;
  UPDATE blkcast.bundle SET segments = nr, used_bytes = moved_bytes WHERE id = bundle_id;
  WITH empty AS (DELETE FROM blkcast.bundle WHERE segments = 0 RETURNING key)
    INSERT INTO blkcast.garbage SELECT key, now() + interval '1 hour', 'compaction moved its segments' FROM empty
    ON CONFLICT (key) DO NOTHING;
  RETURN nr;
END $$;

INSERT INTO blkcast.version VALUES (1);

-- migration 2
-- Whose requests of when somebody asked for (`blkcast ask`). Every serve tells the agents in its answers.
CREATE TABLE blkcast.ask(
  host text COLLATE "C" PRIMARY KEY,
  begin_at timestamptz NOT NULL,
  end_at timestamptz NOT NULL);

INSERT INTO blkcast.version VALUES (2);

-- migration 3
-- Rows of hosts and streams change with every bundle: room in their pages keeps the indexes as they are.
ALTER TABLE blkcast.host SET (fillfactor = 50);
ALTER TABLE blkcast.stream SET (fillfactor = 50);

-- Takes the segments of one bundle, by a few statements whatever their number. The verdicts, by number in the list:
-- 0 stored now; 1 stored before with the same content; 2 stored before with another content; 3 beyond the host's quota
-- of bytes; 4 beyond its quota of the day; 5 the stream has too many holes. Once a segment is beyond a quota, so are
-- those that follow it in the same bundle. A segment that known() named has no bytes in the bundle, and its at is
-- null: if it was forgotten since, the transaction ends, and the caller tries again. Every stream named is written, so
-- that the commit of this transaction is one for which the standbys are waited for, also where all segments were there
-- before. Rows are locked in the order of their keys, hosts before streams, so that no two bundles wait for each other.
CREATE OR REPLACE FUNCTION blkcast.take(b jsonb) RETURNS TABLE(i int, verdict int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  bundle_id bigint;
  nr_stored bigint;
  used bigint;
  nrs int[];
  verdicts int[];
  streams bigint[];
  gone text;
  max_bytes bigint := coalesce((b->>'host_bytes')::bigint, 0);
  max_segments bigint := coalesce((b->>'host_segments')::bigint, 0);
  today date := (now() AT TIME ZONE 'UTC')::date;
  now_ns bigint := (extract(epoch FROM clock_timestamp()) * 1e9)::bigint;
BEGIN
  IF b->>'key' IS NOT NULL THEN
    INSERT INTO blkcast.bundle(key, bytes, sha256, segments, used_bytes)
      VALUES (b->>'key', (b->>'bytes')::bigint, decode(b->>'sha256', 'hex'), 0, 0) RETURNING id INTO bundle_id;
  END IF;
  INSERT INTO blkcast.host(host, day) SELECT DISTINCT x.host COLLATE "C", today
    FROM jsonb_to_recordset(b->'segments') AS x(host text) ORDER BY 1 ON CONFLICT DO NOTHING;
  PERFORM 1 FROM blkcast.host o WHERE o.host IN (SELECT x.host FROM jsonb_to_recordset(b->'segments') AS x(host text))
    ORDER BY o.host FOR NO KEY UPDATE;
  INSERT INTO blkcast.stream(host, boot_id, epoch, commits)
    SELECT DISTINCT x.host COLLATE "C", x.boot_id COLLATE "C", x.epoch, 0
    FROM jsonb_to_recordset(b->'segments') AS x(host text, boot_id text, epoch bigint) ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING;
  PERFORM 1 FROM blkcast.stream o WHERE (o.host, o.boot_id, o.epoch) IN (SELECT x.host, x.boot_id, x.epoch
    FROM jsonb_to_recordset(b->'segments') AS x(host text, boot_id text, epoch bigint))
    ORDER BY o.host, o.boot_id, o.epoch FOR NO KEY UPDATE;

  -- nth counts the same name within the bundle: what follows the first of a name is judged by it.
  WITH named AS MATERIALIZED (
      SELECT x.i, x.sequence, x.bytes, x.at, decode(x.hash, 'hex') AS hash, t.id, t.host, t.boot_id, t.epoch,
        h.bytes AS host_bytes,
        CASE WHEN h.day = today THEN h.segments_of_day ELSE 0 END AS of_day, t.taken @> x.sequence AS is_taken,
        pg_column_size(t.taken) > 200000 AS has_holes,
        row_number() OVER (PARTITION BY t.id, x.sequence ORDER BY x.i) AS nth
      FROM jsonb_to_recordset(b->'segments') AS x(i int, host text, boot_id text, epoch bigint, sequence bigint,
          hash text, at bigint, bytes bigint)
        JOIN blkcast.stream t ON t.host = x.host AND t.boot_id = x.boot_id AND t.epoch = x.epoch
        JOIN blkcast.host h ON h.host = t.host),
    ruled AS MATERIALIZED (
      -- What was removed without a trace of its content is taken for the same.
      SELECT n.*, CASE WHEN n.is_taken THEN CASE WHEN n.hash = coalesce(
            (SELECT g.hash FROM blkcast.segment g WHERE g.stream = n.id AND g.sequence = n.sequence),
            (SELECT m.hashes[array_position(m.sequences, n.sequence)] FROM blkcast.summary m WHERE m.stream = n.id
              AND n.sequence BETWEEN m.first AND m.last AND m.sequences @> ARRAY[n.sequence]), n.hash) THEN 1 ELSE 2 END
          WHEN n.has_holes THEN 5
          WHEN max_bytes > 0 AND n.host_bytes + sum(n.bytes) FILTER (WHERE NOT n.is_taken AND n.nth = 1) OVER w
            > max_bytes THEN 3
          WHEN max_segments > 0 AND n.of_day + count(*) FILTER (WHERE NOT n.is_taken AND n.nth = 1) OVER w
            > max_segments THEN 4 ELSE 0 END AS rule
      FROM named n WINDOW w AS (PARTITION BY n.host ORDER BY n.boot_id, n.epoch, n.sequence)),
    judged AS (
      SELECT r.*, CASE WHEN r.is_taken OR r.nth = 1 THEN r.rule
          WHEN first_value(r.rule) OVER w <> 0 THEN first_value(r.rule) OVER w
          WHEN first_value(r.hash) OVER w = r.hash THEN 1 ELSE 2 END AS verdict
      FROM ruled r WINDOW w AS (PARTITION BY r.id, r.sequence ORDER BY r.nth))
    SELECT array_agg(j.i), array_agg(j.verdict), array_agg(j.id), count(*) FILTER (WHERE j.verdict = 0),
      sum(j.bytes) FILTER (WHERE j.verdict = 0),
      min(concat_ws('/', j.host, j.boot_id, j.epoch, j.sequence)) FILTER (WHERE j.verdict = 0
        AND (bundle_id IS NULL OR j.at IS NULL))
      INTO nrs, verdicts, streams, nr_stored, used, gone FROM judged j;
  IF gone IS NOT NULL THEN
    RAISE EXCEPTION 'segment % was not found where it was looked up before', gone USING ERRCODE = '40001';
  END IF;

  WITH added AS (INSERT INTO blkcast.segment
      SELECT blkcast.day_of(x.anchors[3]), v.stream, x.sequence, decode(x.hash, 'hex'), bundle_id, x.at, x.bytes,
        x.requests, x.captured, x.untimed, x.source, x.layer, x.anchors, x.first_real, x.last_real, now_ns, x.devices,
        x.losses
      FROM jsonb_to_recordset(b->'segments') AS x(i int, sequence bigint, hash text, at bigint, bytes bigint,
          requests bigint, captured bigint, untimed bigint, source int, layer int, anchors bigint[], first_real bigint,
          last_real bigint, devices jsonb, losses jsonb)
        JOIN unnest(nrs, verdicts, streams) AS v(i, verdict, stream) ON v.i = x.i AND v.verdict = 0
      RETURNING stream, sequence, bytes),
    more AS (SELECT v.stream, coalesce(range_agg(int8range(a.sequence, a.sequence + 1))
          FILTER (WHERE a.sequence IS NOT NULL), '{}') AS taken, count(a.sequence) AS nr,
          coalesce(sum(a.bytes), 0) AS bytes
        FROM (SELECT DISTINCT stream FROM unnest(streams) AS u(stream)) v LEFT JOIN added a ON a.stream = v.stream
        GROUP BY v.stream),
    streamed AS (UPDATE blkcast.stream o SET taken = o.taken + m.taken, commits = o.commits + 1 FROM more m
      WHERE o.id = m.stream RETURNING o.host, m.nr, m.bytes)
    UPDATE blkcast.host o SET last_seen = now(), day = today, bytes = o.bytes + s.bytes,
        segments_of_day = CASE WHEN o.day = today THEN o.segments_of_day ELSE 0 END + s.nr
      FROM (SELECT host, sum(nr) AS nr, sum(bytes) AS bytes FROM streamed GROUP BY host) s WHERE o.host = s.host;
  INSERT INTO blkcast.profile
    SELECT blkcast.day_of((extract(epoch FROM p.begin_at) * 1000000000)::bigint), x.host, p.device, p.device_name,
      p.begin_at, p.end_at, p.grade, p.requests_per_s, p.read_per_s, p.write_per_s, p.read_bytes_per_s,
      p.write_bytes_per_s, p.read_mean_s, p.read_p50_s, p.read_p95_s, p.read_p99_s, p.write_mean_s, p.write_p50_s,
      p.write_p95_s, p.write_p99_s, p.sequential_ratio, p.in_flight_mean, p.lost, p.errors
    FROM jsonb_to_recordset(b->'segments') AS x(i int, host text, profiles jsonb)
      JOIN unnest(nrs, verdicts) AS v(i, verdict) ON v.i = x.i AND v.verdict = 0,
      jsonb_populate_recordset(NULL::blkcast.profile, x.profiles) p;
  IF nr_stored > 0 THEN
    UPDATE blkcast.bundle SET segments = nr_stored, used_bytes = used WHERE id = bundle_id;
  ELSIF bundle_id IS NOT NULL THEN
    DELETE FROM blkcast.bundle WHERE id = bundle_id;
    INSERT INTO blkcast.garbage VALUES (b->>'key', now() + interval '1 hour', 'every segment in it was there before');
  END IF;
  RETURN QUERY SELECT * FROM unnest(nrs, verdicts);
END $$;

INSERT INTO blkcast.version VALUES (3);

-- migration 4
-- What roles may see that read the catalog, for dashboards: one row for each host, or for each beginning of names,
-- which ends with *. Roles of which the role is a member count, and public stands for all roles. A role without a row
-- sees no host. The owner of the tables, as which serve works, sees and writes everything.
CREATE TABLE blkcast.reader(
  role name NOT NULL,
  host text COLLATE "C" NOT NULL,           -- "web1", "web*" or "*"
  PRIMARY KEY (role, host));

-- With a search path of its own, so that no reader puts functions of the same names before those meant here.
CREATE FUNCTION blkcast.may_read(its_host text) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT NOT row_security_active('blkcast.host') OR EXISTS (SELECT FROM blkcast.reader r
    LEFT JOIN pg_catalog.pg_roles p ON p.rolname = r.role
    WHERE (r.role = 'public' OR pg_has_role(p.oid, 'USAGE'))
      AND CASE WHEN right(r.host, 1) = '*' THEN starts_with(its_host, left(r.host, -1)) ELSE its_host = r.host END) $$;

-- Who could read before this migration goes on reading everything.
INSERT INTO blkcast.reader SELECT DISTINCT coalesce(r.rolname, 'public'), '*'
  FROM pg_class c CROSS JOIN aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
  WHERE c.oid = 'blkcast.profile'::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner;

ALTER TABLE blkcast.host ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.host USING (blkcast.may_read(host));
ALTER TABLE blkcast.stream ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.stream USING (host IN (SELECT h.host FROM blkcast.host h));
ALTER TABLE blkcast.segment ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.segment USING (stream IN (SELECT t.id FROM blkcast.stream t));
ALTER TABLE blkcast.summary ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.summary USING (stream IN (SELECT t.id FROM blkcast.stream t));
ALTER TABLE blkcast.profile ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.profile USING (host IN (SELECT h.host FROM blkcast.host h));
ALTER TABLE blkcast.ask ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.ask USING (blkcast.may_read(host));
-- What belongs to no host is for those who see every host.
ALTER TABLE blkcast.bundle ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.bundle USING (blkcast.may_read('*'));
ALTER TABLE blkcast.garbage ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.garbage USING (blkcast.may_read('*'));
ALTER TABLE blkcast.lease ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.lease USING (blkcast.may_read('*'));
-- may_read() asks this table, so its policy cannot ask may_read().
ALTER TABLE blkcast.reader ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.reader USING (role = 'public'
  OR pg_has_role((SELECT p.oid FROM pg_catalog.pg_roles p WHERE p.rolname = role), 'USAGE'));

-- The policy of a partitioned table holds for queries of that table only; its partitions themselves show nothing.
DO $$
DECLARE
  child regclass;
BEGIN
  FOR child IN SELECT inhrelid::regclass FROM pg_inherits
      WHERE inhparent IN ('blkcast.segment'::regclass, 'blkcast.profile'::regclass) LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', child);
  END LOOP;
END $$;

-- As in migration 1, and the partitions show nothing by themselves.
CREATE OR REPLACE FUNCTION blkcast.make_day(d date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  child text;
BEGIN
  IF d < date '2000-01-01' THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('blkcast.make_day'));
  FOREACH parent IN ARRAY ARRAY['segment', 'profile'] LOOP
    child := parent || to_char(d, '"_"YYYYMMDD');
    CONTINUE WHEN to_regclass('blkcast.' || child) IS NOT NULL;
    EXECUTE format('CREATE TABLE blkcast.%I (LIKE blkcast.%I INCLUDING DEFAULTS)', child, parent);
    EXECUTE format('ALTER TABLE blkcast.%I ENABLE ROW LEVEL SECURITY', child);
    EXECUTE format('ALTER TABLE blkcast.%I ATTACH PARTITION blkcast.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
      d, d + 1);
  END LOOP;
END $$;

-- A view reads its tables as their owner does, so these ask for themselves. They do not call a function of the reader
-- for rows that the reader may not see.
CREATE OR REPLACE VIEW blkcast.loss WITH (security_barrier) AS
  SELECT t.host, t.boot_id, t.epoch, s.sequence, s.day, (l->>0)::int AS cause, (l->>1)::bigint AS count,
    (l->>2)::int <> 0 AS count_known, (l->>3)::bigint AS device, to_timestamp((l->>4)::bigint / 1e9) AS begin_at,
    to_timestamp((l->>5)::bigint / 1e9) AS end_at
  FROM (SELECT * FROM blkcast.stream WHERE blkcast.may_read(host) OFFSET 0) t JOIN blkcast.segment s ON t.id = s.stream,
    jsonb_array_elements(s.losses) l;
CREATE OR REPLACE VIEW blkcast.watermark WITH (security_barrier) AS
  SELECT host, boot_id, epoch, CASE WHEN isempty(holes) THEN next ELSE lower(holes) END AS watermark, next, holes
  FROM (SELECT *, int8multirange(int8range(0, next)) - taken AS holes
    FROM (SELECT *, coalesce(upper(taken), 0) AS next FROM blkcast.stream WHERE blkcast.may_read(host)) a) b;

INSERT INTO blkcast.version VALUES (4);

-- migration 5
-- A policy asks its tables with the rights of whoever reads, so that a role which was given one table could not read
-- it any more, nor could one whose grants are older than table reader. The policies decide about the rows, so that all
-- may have the columns that they ask.
GRANT SELECT ON blkcast.reader TO PUBLIC;
GRANT SELECT (host) ON blkcast.host TO PUBLIC;
GRANT SELECT (id, host) ON blkcast.stream TO PUBLIC;

INSERT INTO blkcast.version VALUES (5);

-- migration 6
-- Migration 4 noted who could read table profile. A role that was given a view alone, for example watermark, could
-- read it before and then saw no host. It goes on reading as well, if one upgrade runs both migrations: the program
-- says which version the catalog had at its begin. Where migration 4 ran earlier, a role without a row may have been
-- made since, and is meant to see nothing.
INSERT INTO blkcast.reader SELECT DISTINCT coalesce(r.rolname, 'public'), '*'
  FROM pg_class c CROSS JOIN aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
  WHERE c.oid IN ('blkcast.loss'::regclass, 'blkcast.watermark'::regclass) AND a.privilege_type = 'SELECT'
    AND a.grantee <> c.relowner
    AND current_setting('blkcast.upgraded_from', true)::int < 4
  ON CONFLICT DO NOTHING;

INSERT INTO blkcast.version VALUES (6);

-- migration 7
-- As in migration 4. The partition takes over what the default partition has of its day: rows got there where a guest's
-- window begins on a day that nothing was stored for, or the clock of a serve was off. A partition cannot be attached
-- beside them. Nobody adds more meanwhile, because attaching locks the default partition as well.
CREATE OR REPLACE FUNCTION blkcast.make_day(d date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  child text;
BEGIN
  IF d < date '2000-01-01' THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('blkcast.make_day'));
  FOREACH parent IN ARRAY ARRAY['segment', 'profile'] LOOP
    child := parent || to_char(d, '"_"YYYYMMDD');
    CONTINUE WHEN to_regclass('blkcast.' || child) IS NOT NULL;
    EXECUTE format('CREATE TABLE blkcast.%I (LIKE blkcast.%I INCLUDING DEFAULTS)', child, parent);
    EXECUTE format('ALTER TABLE blkcast.%I ENABLE ROW LEVEL SECURITY', child);
    EXECUTE format('LOCK TABLE blkcast.%I', parent || '_other');
    EXECUTE format('WITH moved AS (DELETE FROM blkcast.%I WHERE day = %L RETURNING *)
      INSERT INTO blkcast.%I SELECT * FROM moved', parent || '_other', d, child);
    EXECUTE format('ALTER TABLE blkcast.%I ATTACH PARTITION blkcast.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
      d, d + 1);
  END LOOP;
END $$;

INSERT INTO blkcast.version VALUES (7);

-- migration 8
-- The file of policies (`blkcast policy`): which raw requests are wanted of whom, and for how long they are kept. One
-- row, so that all serves tell the agents the same and retention knows it whoever runs it.
CREATE TABLE blkcast.policy(
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  text text NOT NULL,                       -- YAML, as docs/policy.schema.json describes it
  changed timestamptz NOT NULL DEFAULT now());
ALTER TABLE blkcast.policy ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON blkcast.policy USING (blkcast.may_read('*'));

INSERT INTO blkcast.version VALUES (8);
