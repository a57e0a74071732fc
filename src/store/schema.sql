-- cleo.db, version 1: tasks (whose table is in sql/tasks.rs), what the graph asks for, who works on what, what
-- happened; then agents, what they ran and said, and what the chat works on. Ids of tasks are plain numbers (T12 is 12). Lists that nothing searches
-- are JSON arrays; a `record` is the whole thing as JSON, beside the columns that queries look for; `sum` is the checksum
-- of the others, without those that SQLite sets by itself. SQLite reads all
-- of this each time the database is opened, so each table and index has to be worth it.

-- The id that comes next, how many tasks there are with each status, and how many are ready. An
-- archived task counts as `archived`, whatever its status is. `agents` counts the changes of agents, so that a
-- process that keeps them in memory knows when to look again. A counter that is missing or damaged is counted anew.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL,
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
-- Lists leave out what is archived. They are read in order of number: by status, or from the index of what is archived.
CREATE INDEX tasks_by_status ON tasks (status, archived_at);
CREATE INDEX tasks_by_archive ON tasks (number) WHERE archived_at IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_uid ON tasks (uid);
CREATE UNIQUE INDEX tasks_by_key ON tasks (key) WHERE key IS NOT NULL;

CREATE TABLE task_labels (
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    label TEXT NOT NULL,
    normalized TEXT NOT NULL,
    PRIMARY KEY (task, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX labels_by_name ON task_labels (normalized, task);

CREATE TABLE task_depends (
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    needs INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (task, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX depends_by_need ON task_depends (needs, task);

CREATE VIRTUAL TABLE task_text USING fts5 (
    title,
    description,
    content = 'tasks',
    content_rowid = 'number',
    tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE spawns (
    sequence INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    manifest_id TEXT NOT NULL,
    output_file TEXT NOT NULL,
    at TEXT NOT NULL,
    receipt TEXT NOT NULL,
    verified_at TEXT,
    output_digest TEXT,
    forced TEXT,
    mark TEXT,
    sum INTEGER NOT NULL,
    UNIQUE (task, manifest_id)
) STRICT;

CREATE INDEX spawns_by_output ON spawns (output_file);

CREATE TABLE links (
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    entry TEXT NOT NULL,
    at TEXT NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (task, entry)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_entry ON links (entry);

CREATE TABLE gates (
    task INTEGER PRIMARY KEY REFERENCES tasks (number) ON DELETE CASCADE,
    state TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

-- The graph's view of a task, without its texts. The store keeps it beside the task:
--     rank           0 critical, 1 high, 2 medium, 3 low
--     open_needs     dependencies that are not done; dropped_needs: of these, cancelled
--     open_children  children that are neither done nor cancelled
--     dangling       dependencies of an import that lead nowhere
--     below          longest chain of tasks that depend on it, up to a bound
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

CREATE INDEX nodes_ready ON nodes (rank, below DESC) WHERE is_ready = 1;
CREATE INDEX nodes_stuck ON nodes (number) WHERE is_stuck = 1;

-- Where a task that was imported comes from, by the other tool's own id.
CREATE TABLE origins (
    format TEXT NOT NULL,
    id TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    PRIMARY KEY (id, format)
) STRICT, WITHOUT ROWID;

CREATE INDEX origins_by_task ON origins (task);

-- The last claim of a task. The epoch outlives a release, so that a late writer is known.
CREATE TABLE claims (
    task INTEGER PRIMARY KEY REFERENCES tasks (number) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    holder TEXT,
    since TEXT NOT NULL,
    expires TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

CREATE INDEX claims_by_holder ON claims (holder, task) WHERE holder IS NOT NULL;

-- The scope stays when its task is deleted: without it the session would be about everything.
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    scope INTEGER,
    focus INTEGER REFERENCES tasks (number) ON DELETE SET NULL,
    holder TEXT NOT NULL,
    notes TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    sum INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_open ON sessions (status, number);

CREATE TABLE phases (
    slug TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT,
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tasks_by_agent ON tasks (assigned_agent) WHERE assigned_agent IS NOT NULL;
CREATE INDEX tasks_by_due ON tasks (due) WHERE due IS NOT NULL;
CREATE INDEX tasks_by_phase ON tasks (phase, status) WHERE phase IS NOT NULL;

-- One row for each transaction that changed something, and what it changed, from the sequence number `first` on. No
-- row is ever deleted, so numbers only grow. `undone_by` is the undo of it that holds.
CREATE TABLE operations (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    command TEXT NOT NULL,
    first INTEGER NOT NULL,
    undoes INTEGER,
    undone_by INTEGER,
    sum INTEGER NOT NULL
) STRICT;

CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operations (number),
    kind TEXT NOT NULL,
    task INTEGER,
    detail TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

CREATE INDEX changes_by_task ON changes (task, sequence);

-- Built-in agents have a row only when something of them was changed. Files in .cleo/agents have none.
-- `position` is the number of the change that made it.
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    is_runtime INTEGER NOT NULL,
    record TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What agents carry out. `owner` names the file that the process holds locked as its sign of life.
CREATE TABLE runs (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    user_id TEXT NOT NULL,
    agent TEXT,
    started_at TEXT NOT NULL,
    execution_time_ms INTEGER,
    has_error INTEGER NOT NULL,
    owner TEXT NOT NULL,
    record TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_by_user ON runs (user_id, position);
CREATE INDEX runs_by_agent ON runs (agent, position);
CREATE INDEX runs_by_status ON runs (status, position);
CREATE INDEX runs_by_kind ON runs (kind, position);

-- All that is counted of runs, so that metrics do not read what was asked and answered.
CREATE INDEX runs_counted ON runs (agent, kind, status, user_id, started_at, execution_time_ms,
    has_error);

-- What happened in runs, in order: steps, delegations, messages, failures.
CREATE TABLE events (
    cursor INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

CREATE INDEX events_by_run ON events (run, cursor);

CREATE TABLE conversations (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    last_message_at TEXT NOT NULL,
    record TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

CREATE INDEX conversations_by_user ON conversations (user_id, last_message_at, position);

-- What was said: in a conversation, in a run, or in both.
CREATE TABLE messages (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    conversation TEXT,
    run TEXT,
    type TEXT NOT NULL CHECK (type IN ('user', 'agent', 'system')),
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

CREATE INDEX messages_by_conversation ON messages (conversation, position)
    WHERE conversation IS NOT NULL;
CREATE INDEX messages_by_run ON messages (run, position) WHERE run IS NOT NULL;

-- What is only found by its key. Of the chat: clients, their designs, components, security groups, guards, answers
-- and media, whose owner is the client, so that nothing is found under another's; questions, and what is remembered
-- of each conversation. Of agents: when each last answered.
CREATE TABLE records (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (kind, owner, id)
) STRICT, WITHOUT ROWID;
