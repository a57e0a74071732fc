-- Version 2: what the graph asks for, kept up to date; who works on what; what happened.

ALTER TABLE tasks ADD COLUMN archived_at TEXT;

-- Lists leave out what is archived; both kinds of list are read from an index, in order of number.
CREATE INDEX tasks_by_archive ON tasks (archived_at);
DROP INDEX tasks_by_status;
CREATE INDEX tasks_by_status ON tasks (status, archived_at);

-- An archived task counts as `archived`, whatever its status is.
INSERT INTO counters VALUES ('archived', 0);

-- The graph's view of a task, without its texts. The store keeps it beside the task:
--     rank           0 critical, 1 high, 2 medium, 3 low
--     open_needs     dependencies that are not done; dropped_needs: of these, cancelled
--     open_children  children that are neither done nor cancelled
--     dangling       dependencies of an import that lead nowhere
--     below          longest chain of open tasks that wait for it, up to a bound
--     is_stuck       open, and nothing that comes by itself ends its waiting or, of an epic without
--                    open children, that of others
CREATE TABLE nodes (
    number INTEGER PRIMARY KEY,
    parent INTEGER,
    status TEXT NOT NULL,
    rank INTEGER NOT NULL,
    is_epic INTEGER NOT NULL,
    open_needs INTEGER NOT NULL,
    dropped_needs INTEGER NOT NULL,
    open_children INTEGER NOT NULL,
    dangling INTEGER NOT NULL,
    below INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    is_ready INTEGER NOT NULL,
    is_stuck INTEGER NOT NULL
) STRICT;

CREATE INDEX nodes_by_parent ON nodes (parent) WHERE parent IS NOT NULL;
CREATE INDEX nodes_ready ON nodes (rank, below DESC) WHERE is_ready = 1;
CREATE INDEX nodes_stuck ON nodes (number) WHERE is_stuck = 1;

INSERT INTO nodes SELECT
    number,
    parent,
    status,
    CASE priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
    type = 'epic',
    (SELECT count(*) FROM task_depends d JOIN tasks n ON n.number = d.needs
        WHERE d.task = t.number AND n.status <> 'done'),
    (SELECT count(*) FROM task_depends d JOIN tasks n ON n.number = d.needs
        WHERE d.task = t.number AND n.status = 'cancelled'),
    (SELECT count(*) FROM tasks c WHERE c.parent = t.number AND c.status NOT IN ('done', 'cancelled')),
    coalesce(json_array_length(extra, '$.danglingDepends'), 0),
    0,
    status NOT IN ('done', 'cancelled'),
    0,
    0
FROM tasks t;

UPDATE nodes SET
    is_ready = status = 'pending' AND open_needs = 0 AND open_children = 0 AND dangling = 0
        AND is_epic = 0,
    is_stuck = is_open
        AND (dangling > 0 OR dropped_needs > 0 OR (is_epic = 1 AND open_children = 0));

INSERT INTO counters SELECT 'ready', count(*) FROM nodes WHERE is_ready = 1;
UPDATE counters SET value = (SELECT count(*) FROM tasks WHERE status = name)
WHERE name NOT IN ('next_task', 'ready');

-- Where a task that was imported comes from, by the other tool's own id.
CREATE TABLE origins (
    format TEXT NOT NULL,
    id TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    PRIMARY KEY (format, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX origins_by_task ON origins (task);
CREATE INDEX origins_by_id ON origins (id);

-- What a copy of the tasks in a file looked like when it was last merged.
CREATE TABLE sync_bases (
    file TEXT NOT NULL,
    task INTEGER NOT NULL,
    base TEXT NOT NULL,
    PRIMARY KEY (file, task)
) STRICT, WITHOUT ROWID;

-- The last claim of a task. The epoch outlives a release, so that a late writer is known.
CREATE TABLE claims (
    task INTEGER PRIMARY KEY REFERENCES tasks (number) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    holder TEXT,
    since TEXT NOT NULL,
    expires TEXT NOT NULL
) STRICT;

CREATE INDEX claims_held ON claims (expires, task) WHERE holder IS NOT NULL;
CREATE INDEX claims_by_holder ON claims (holder, task) WHERE holder IS NOT NULL;

CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    scope INTEGER REFERENCES tasks (number) ON DELETE SET NULL,
    focus INTEGER REFERENCES tasks (number) ON DELETE SET NULL,
    holder TEXT NOT NULL,
    notes TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT
) STRICT;

CREATE INDEX sessions_open ON sessions (status, number);

CREATE TABLE phases (
    slug TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX tasks_by_agent ON tasks (assigned_agent) WHERE assigned_agent IS NOT NULL;
CREATE INDEX tasks_by_due ON tasks (due) WHERE due IS NOT NULL;
CREATE INDEX tasks_by_phase ON tasks (phase, status) WHERE phase IS NOT NULL;

-- One row for each transaction that changed something, and what it changed. No row is ever deleted,
-- so numbers only grow.
CREATE TABLE operations (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    command TEXT NOT NULL,
    undoes INTEGER
) STRICT;

CREATE INDEX operations_by_undone ON operations (undoes) WHERE undoes IS NOT NULL;

CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operations (number),
    kind TEXT NOT NULL,
    task INTEGER,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX changes_by_operation ON changes (operation);
CREATE INDEX changes_by_task ON changes (task, sequence);

-- Each check of what the agent of a spawned task left.
CREATE TABLE verifications (
    sequence INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    manifest_id TEXT NOT NULL,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    skill TEXT NOT NULL,
    agent TEXT NOT NULL,
    passed INTEGER NOT NULL,
    violations TEXT NOT NULL
) STRICT;

CREATE INDEX verifications_by_task ON verifications (task, sequence);
