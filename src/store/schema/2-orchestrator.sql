-- Version 2: what the graph asks for, kept up to date; who works on what; what happened.

ALTER TABLE tasks ADD COLUMN archived_at TEXT;

-- Lists leave out what is archived; both kinds of list are read from an index, in order of number.
CREATE INDEX tasks_by_archive ON tasks (archived_at);
DROP INDEX tasks_by_status;
CREATE INDEX tasks_by_status ON tasks (status, archived_at);

-- An archived task counts as `archived`, whatever its status is.
DROP TRIGGER count_insert;
DROP TRIGGER count_delete;
DROP TRIGGER count_update;

CREATE TRIGGER count_insert AFTER INSERT ON tasks BEGIN
    INSERT INTO task_counts VALUES (iif(new.archived_at IS NULL, new.status, 'archived'), 1)
    ON CONFLICT (status) DO UPDATE SET value = value + 1;
END;

CREATE TRIGGER count_delete AFTER DELETE ON tasks BEGIN
    UPDATE task_counts SET value = value - 1
    WHERE status = iif(old.archived_at IS NULL, old.status, 'archived');
END;

CREATE TRIGGER count_update AFTER UPDATE OF status, archived_at ON tasks
WHEN old.status <> new.status OR old.archived_at IS NOT new.archived_at BEGIN
    UPDATE task_counts SET value = value - 1
    WHERE status = iif(old.archived_at IS NULL, old.status, 'archived');
    INSERT INTO task_counts VALUES (iif(new.archived_at IS NULL, new.status, 'archived'), 1)
    ON CONFLICT (status) DO UPDATE SET value = value + 1;
END;

-- The store itself keeps the index of words, all that is new in one statement.
DROP TRIGGER text_insert;
DROP TRIGGER text_delete;
DROP TRIGGER text_update;

-- The graph's view of a task, without its texts. Triggers keep everything but `below`, which is
-- settled when a transaction commits, and what new edges of a known task add, which the store
-- counts anew when it writes them: edges of a new task are there before its node.
CREATE TABLE nodes (
    number INTEGER PRIMARY KEY REFERENCES tasks (number) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    parent INTEGER,
    status TEXT NOT NULL,
    rank INTEGER NOT NULL,          -- 0 critical, 1 high, 2 medium, 3 low
    is_epic INTEGER NOT NULL,
    open_needs INTEGER NOT NULL,    -- dependencies that are not done
    dropped_needs INTEGER NOT NULL, -- of these, cancelled
    open_children INTEGER NOT NULL, -- children that are neither done nor cancelled
    dangling INTEGER NOT NULL,      -- dependencies of an import that lead nowhere
    below INTEGER NOT NULL,         -- longest chain of open tasks that wait for it, up to a bound
    is_open INTEGER NOT NULL AS (status NOT IN ('done', 'cancelled')) VIRTUAL,
    is_ready INTEGER NOT NULL AS (status = 'pending' AND open_needs = 0 AND open_children = 0
        AND dangling = 0 AND is_epic = 0) VIRTUAL
) STRICT;

CREATE INDEX nodes_by_parent ON nodes (parent) WHERE parent IS NOT NULL;
CREATE INDEX nodes_ready ON nodes (rank, below DESC, number) WHERE is_ready = 1;
CREATE INDEX nodes_dangling ON nodes (number) WHERE dangling > 0;
CREATE INDEX nodes_dropped ON nodes (number) WHERE dropped_needs > 0;
CREATE INDEX nodes_empty ON nodes (number) WHERE is_epic = 1 AND open_children = 0 AND is_open = 1;

INSERT INTO counters VALUES ('ready', 0);

CREATE TRIGGER ready_insert AFTER INSERT ON nodes WHEN new.is_ready BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'ready';
END;

CREATE TRIGGER ready_delete AFTER DELETE ON nodes WHEN old.is_ready BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'ready';
END;

CREATE TRIGGER ready_update AFTER UPDATE OF status, is_epic, open_needs, open_children, dangling
ON nodes WHEN old.is_ready <> new.is_ready BEGIN
    UPDATE counters SET value = value + new.is_ready - old.is_ready WHERE name = 'ready';
END;

CREATE TRIGGER node_insert AFTER INSERT ON tasks BEGIN
    INSERT INTO nodes VALUES (
        new.number,
        new.parent,
        new.status,
        CASE new.priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
        new.type = 'epic',
        (SELECT count(*) FROM task_depends d LEFT JOIN nodes n ON n.number = d.needs
            WHERE d.task = new.number AND n.status IS NOT 'done'),
        (SELECT count(*) FROM task_depends d JOIN nodes n ON n.number = d.needs
            WHERE d.task = new.number AND n.status = 'cancelled'),
        (SELECT count(*) FROM nodes WHERE parent = new.number AND is_open),
        coalesce(json_array_length(new.extra, '$.danglingDepends'), 0),
        0
    );
    UPDATE nodes SET open_children = open_children + 1
    WHERE number = new.parent AND new.status NOT IN ('done', 'cancelled');
    UPDATE nodes SET
        open_needs = open_needs - (new.status = 'done'),
        dropped_needs = dropped_needs + (new.status = 'cancelled')
    WHERE new.status IN ('done', 'cancelled')
        AND number IN (SELECT task FROM task_depends WHERE needs = new.number);
END;

CREATE TRIGGER node_update AFTER UPDATE OF parent, status, priority, type, extra ON tasks
WHEN old.parent IS NOT new.parent OR old.status <> new.status OR old.priority <> new.priority
    OR old.type <> new.type OR old.extra <> new.extra
BEGIN
    UPDATE nodes SET
        parent = new.parent,
        status = new.status,
        rank = CASE new.priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
        is_epic = new.type = 'epic',
        dangling = coalesce(json_array_length(new.extra, '$.danglingDepends'), 0)
    WHERE number = new.number;
    UPDATE nodes SET open_children = open_children - 1
    WHERE number = old.parent AND old.status NOT IN ('done', 'cancelled');
    UPDATE nodes SET open_children = open_children + 1
    WHERE number = new.parent AND new.status NOT IN ('done', 'cancelled');
    UPDATE nodes SET
        open_needs = open_needs + (old.status = 'done') - (new.status = 'done'),
        dropped_needs = dropped_needs - (old.status = 'cancelled') + (new.status = 'cancelled')
    WHERE old.status <> new.status
        AND (old.status IN ('done', 'cancelled') OR new.status IN ('done', 'cancelled'))
        AND number IN (SELECT task FROM task_depends WHERE needs = new.number);
END;

-- Deleting a task deletes its edges first, so a status is always there to be looked at.
CREATE TRIGGER node_delete BEFORE DELETE ON tasks BEGIN
    UPDATE nodes SET open_children = open_children - 1
    WHERE number = old.parent AND old.status NOT IN ('done', 'cancelled');
    DELETE FROM task_depends WHERE task = old.number OR needs = old.number;
END;

CREATE TRIGGER need_delete AFTER DELETE ON task_depends BEGIN
    UPDATE nodes SET
        open_needs = open_needs - ((SELECT status FROM nodes WHERE number = old.needs) IS NOT 'done'),
        dropped_needs = dropped_needs
            - ((SELECT status FROM nodes WHERE number = old.needs) IS 'cancelled')
    WHERE number = old.task;
END;

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
    0
FROM tasks t;

-- Where a task that was imported comes from, by the other tool's own id.
CREATE TABLE origins (
    format TEXT NOT NULL,
    id TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
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
    task INTEGER PRIMARY KEY REFERENCES tasks (number) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
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
    scope INTEGER REFERENCES tasks (number) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    focus INTEGER REFERENCES tasks (number) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
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

-- One row for each transaction that changed something, and what it changed.
CREATE TABLE operations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    command TEXT NOT NULL,
    undoes INTEGER
) STRICT;

CREATE INDEX operations_by_undone ON operations (undoes) WHERE undoes IS NOT NULL;

CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    operation INTEGER NOT NULL REFERENCES operations (number),
    kind TEXT NOT NULL,
    task INTEGER,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX changes_by_operation ON changes (operation);
CREATE INDEX changes_by_task ON changes (task, sequence);

-- Each check of what the agent of a spawned task left.
CREATE TABLE verifications (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    manifest_id TEXT NOT NULL,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    skill TEXT NOT NULL,
    agent TEXT NOT NULL,
    passed INTEGER NOT NULL,
    violations TEXT NOT NULL
) STRICT;

CREATE INDEX verifications_by_task ON verifications (task, sequence);
