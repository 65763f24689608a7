-- Views of a PostgreSQL store for Grafana and other tools that read SQL; columns as in
-- docs/dataset.schema.json. They have no text of a question or answer, and the rows of all tenants.
-- Version 1 loses no column and changes no meaning. Repeat after each upgrade and restore:
--   psql "$STORE_URL" -v ON_ERROR_STOP=1 --single-transaction -f deploy/grafana/views.sql
DROP SCHEMA IF EXISTS biaswatch_v1 CASCADE;
CREATE SCHEMA biaswatch_v1;

CREATE VIEW biaswatch_v1.runs AS
SELECT run.id AS run_id, run.tenant, run.purpose, run.at AS time,
  content ->> 'suite' AS suite,
  ARRAY(SELECT target ->> 'name' FROM json_array_elements(content -> 'targets') AS target)
    AS targets,
  (SELECT coalesce(sum(records), 0)::bigint FROM record_count AS counts
    WHERE counts.run_id = run.id AND counts.kind = 'response' AND counts.purpose = run.purpose)
    AS responses,
  (SELECT max(completion.at) FROM completion
    WHERE completion.run_id = run.id AND completion.stage = 'features') AS concluded
FROM run, LATERAL (SELECT run.body::json AS content) AS parsed;

-- A resumed run is diagnosed again: its last completion counts.
CREATE VIEW biaswatch_v1.diagnoses AS
SELECT diagnosis.tenant, diagnosis.purpose, diagnosis.at AS time, diagnosis.run_id,
  diagnosis.body::json AS content
FROM diagnosis
WHERE diagnosis.completion_id = (
  SELECT latest.completion_id FROM diagnosis AS latest
  WHERE latest.run_id = diagnosis.run_id ORDER BY latest.at DESC LIMIT 1
);

CREATE VIEW biaswatch_v1.groups AS
SELECT tenant, purpose, time, run_id,
  content ->> 'target' AS target, content ->> 'scaffold' AS scaffold,
  content ->> 'extractor' AS extractor, content ->> 'feature' AS feature,
  content ->> 'dimension' AS dimension, member ->> 'group' AS group_name,
  (member ->> 'responses')::bigint AS responses, (member ->> 'missing')::bigint AS missing,
  (member ->> 'units')::bigint AS units,
  (member #>> '{mean,value}')::float8 AS mean, (member #>> '{mean,low}')::float8 AS mean_low,
  (member #>> '{mean,high}')::float8 AS mean_high
FROM biaswatch_v1.diagnoses, json_array_elements(content -> 'groups') AS member;

-- The second side is a group, or all groups but the first.
CREATE VIEW biaswatch_v1.findings AS
SELECT tenant, purpose, time, run_id,
  content ->> 'target' AS target, content ->> 'scaffold' AS scaffold,
  content ->> 'extractor' AS extractor, content ->> 'feature' AS feature,
  content ->> 'dimension' AS dimension, gap ->> 'a' AS a, gap ->> 'b' AS b,
  (gap #>> '{gap,value}')::float8 AS gap, (gap #>> '{gap,low}')::float8 AS gap_low,
  (gap #>> '{gap,high}')::float8 AS gap_high, gap #>> '{gap,reason}' AS gap_reason,
  (gap ->> 'p_adjusted')::float8 AS p_adjusted,
  gap ->> 'same_treatment' AS same_treatment,
  (gap ->> 'p_same_treatment')::float8 AS p_same_treatment,
  gap ->> 'group_effect' AS group_effect, (gap ->> 'p_group_effect')::float8 AS p_group_effect,
  gap ->> 'headline' AS headline,
  CASE WHEN sides.unmeasured THEN 'not_measured' ELSE gap ->> 'summary' END AS summary,
  (gap ->> 'survives_missing')::boolean AS survives_missing,
  (content ->> 'alpha')::float8 AS alpha, (content ->> 'tolerance')::float8 AS tolerance,
  (content ->> 'family')::bigint AS family
FROM biaswatch_v1.diagnoses, json_array_elements(content -> 'gaps') AS gap,
LATERAL (
  SELECT coalesce(bool_or(requested > 0 AND measured = 0), false) AS unmeasured FROM (
    SELECT sum((member ->> 'responses')::bigint) AS requested,
      sum((member ->> 'responses')::bigint - (member ->> 'missing')::bigint) AS measured
    FROM json_array_elements(content -> 'groups') AS member,
      (SELECT ARRAY(SELECT named ->> 'group'
        FROM json_array_elements(content -> 'groups') AS named) AS names) AS known,
      unnest(ARRAY['a', 'b']) AS side
    WHERE CASE WHEN gap ->> side = ANY (names) THEN member ->> 'group' = gap ->> side
      ELSE side = 'b' AND member ->> 'group' <> gap ->> 'a' END
    GROUP BY side
  ) AS counted
) AS sides;

CREATE VIEW biaswatch_v1.rounds AS
SELECT tenant, content ->> 'monitor' AS monitor, (content ->> 'round')::bigint AS round,
  (content ->> 'epoch')::bigint AS epoch, at AS time, run_id,
  (content ->> 'expected')::bigint AS expected, (content ->> 'arrived')::bigint AS arrived
FROM round, LATERAL (SELECT round.body::json AS content) AS parsed;

-- A row is an alarm from its raising to its clearing; `cleared` is null while it lasts.
CREATE VIEW biaswatch_v1.alarms AS
WITH alarms AS (
  SELECT tenant, monitor_id, at, content ->> 'monitor' AS monitor, content ->> 'state' AS state,
    content ->> 'comparison_key' AS comparison, content ->> 'what' AS kind,
    (content ->> 'epoch')::bigint AS epoch, (content ->> 'occasion')::bigint AS occasion, content
  FROM alarm, LATERAL (SELECT alarm.body::json AS content) AS parsed
)
SELECT tenant, monitor, comparison, at AS time,
  (SELECT min(over.at) FROM alarms AS over WHERE over.state = 'cleared'
    AND (over.monitor_id, over.comparison, over.kind, over.epoch, over.occasion)
      = (raised.monitor_id, raised.comparison, raised.kind, raised.epoch, raised.occasion))
    AS cleared,
  (content ->> 'round')::bigint AS round, kind,
  coalesce(nullif(content ->> 'words', ''), content ->> 'reason') AS description,
  (content #>> '{gap,value}')::float8 AS gap, (content #>> '{gap,low}')::float8 AS gap_low,
  (content #>> '{gap,high}')::float8 AS gap_high
FROM alarms AS raised WHERE state = 'raised';

DO $$ BEGIN
  CREATE ROLE biaswatch_views NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
GRANT USAGE ON SCHEMA biaswatch_v1 TO biaswatch_views;
GRANT SELECT ON biaswatch_v1.runs, biaswatch_v1.findings, biaswatch_v1.groups, biaswatch_v1.rounds,
  biaswatch_v1.alarms TO biaswatch_views;
