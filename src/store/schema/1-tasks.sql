-- Version 1. Ids are plain numbers (T12 is 12). Lists that nothing searches are JSON arrays.

CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The id that comes next, and how many tasks there are with each status.
INSERT INTO counters VALUES ('next_task', 1), ('pending', 0), ('active', 0), ('review', 0),
    ('blocked', 0), ('paused', 0), ('done', 0), ('cancelled', 0);

CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    parent INTEGER REFERENCES tasks (number) DEFERRABLE INITIALLY DEFERRED,
    priority TEXT NOT NULL,
    phase TEXT,
    size TEXT,
    files TEXT NOT NULL,
    acceptance TEXT NOT NULL,
    deliverables TEXT NOT NULL,
    notes TEXT NOT NULL,
    assigned_agent TEXT,
    due TEXT,
    estimate REAL,
    feature TEXT,
    key TEXT,
    extra TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT,
    cancelled_at TEXT
) STRICT;

CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_status ON tasks (status);
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
    UNIQUE (task, manifest_id)
) STRICT;

CREATE INDEX spawns_by_output ON spawns (output_file);

CREATE TABLE links (
    sequence INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    entry TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (task, entry)
) STRICT;

CREATE INDEX links_by_entry ON links (entry);

CREATE TABLE gates (
    task INTEGER PRIMARY KEY REFERENCES tasks (number) ON DELETE CASCADE,
    state TEXT NOT NULL
) STRICT;
