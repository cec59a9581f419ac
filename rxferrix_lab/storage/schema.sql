-- The scheduler's own tables, version 1. No secondary index and no foreign key: the order of due jobs lives in
-- memory, and one writer keeps the references. Instants are TIMESTAMPTZ; JSON is text, never evaluated.

CREATE TABLE _meta (
    key VARCHAR NOT NULL,
    value VARCHAR NOT NULL
);

CREATE TABLE _id_blocks (
    table_name VARCHAR NOT NULL,
    reserved BIGINT NOT NULL  -- ids below this one may have been drawn
);

CREATE TABLE _scheduled_jobs (
    id BIGINT NOT NULL,
    function VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('mutation', 'action')),
    args VARCHAR NOT NULL,
    state VARCHAR NOT NULL
        CHECK (state IN ('pending', 'running', 'canceling', 'succeeded', 'failed', 'canceled')),
    trigger VARCHAR NOT NULL CHECK (trigger IN ('user', 'cron', 'catch_up', 'manual', 'on_complete')),
    scheduled_for TIMESTAMPTZ NOT NULL,
    due_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    started_at TIMESTAMPTZ,
    finished_at TIMESTAMPTZ,
    cancel_requested_at TIMESTAMPTZ,
    attempt INTEGER NOT NULL CHECK (attempt >= 0),
    max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
    pool VARCHAR,
    cron VARCHAR,
    missed BIGINT NOT NULL,
    parent BIGINT,
    completion BIGINT,
    result VARCHAR,
    error VARCHAR,
    on_complete VARCHAR,
    on_complete_names VARCHAR,
    on_complete_context VARCHAR,
    revision BIGINT NOT NULL,  -- the commit that wrote the row last
    CHECK ((finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'canceled'))),
    CHECK (kind = 'action' OR state NOT IN ('running', 'canceling'))
);

CREATE TABLE _crons (
    name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('cron', 'interval')),
    expr VARCHAR,
    zone VARCHAR,
    every_us BIGINT,
    anchor TIMESTAMPTZ,
    function VARCHAR NOT NULL,
    args VARCHAR NOT NULL,
    next_run_at TIMESTAMPTZ,
    declared_at TIMESTAMPTZ NOT NULL,
    seen_until TIMESTAMPTZ NOT NULL,
    last_run_at TIMESTAMPTZ,
    last_job BIGINT,
    runs BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    missed BIGINT NOT NULL,
    paused BOOLEAN NOT NULL,
    settled VARCHAR NOT NULL,  -- spans of occurrences that never become a job again, as JSON
    CHECK ((kind = 'interval') = (every_us IS NOT NULL)),
    CHECK ((kind = 'cron') = (expr IS NOT NULL))
);

CREATE TABLE _workpools (
    name VARCHAR NOT NULL,
    max_parallelism BIGINT NOT NULL CHECK (max_parallelism >= 0),
    declared_parallelism BIGINT NOT NULL CHECK (declared_parallelism >= 0),
    retries BIGINT NOT NULL CHECK (retries >= 0)
);

CREATE TABLE _execution_log (
    id BIGINT NOT NULL,
    job BIGINT,
    function VARCHAR NOT NULL,
    kind VARCHAR CHECK (kind IN ('mutation', 'action')),
    caller VARCHAR NOT NULL CHECK (caller IN ('scheduler', 'user', 'program', 'operator')),
    identity VARCHAR,
    attempt INTEGER NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL,
    outcome VARCHAR NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'canceled', 'skipped')),
    error VARCHAR,
    detail VARCHAR,
    output VARCHAR,
    progress VARCHAR
);

INSERT INTO _meta (key, value) VALUES ('schema_version', '1');
