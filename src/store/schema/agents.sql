-- agents.db, version 1: who does work, what was run and what was said. A file of its own, so that
-- commands about tasks neither read nor lock it. A `record` is the whole thing as JSON; the columns beside it are what
-- queries look for.

-- Built-in agents have a row only when something of them was changed. Files in .cleo/agents have none.
CREATE TABLE agents (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    is_runtime INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;

-- Grows with each change of an agent, so that who keeps agents in memory knows when to look again.
CREATE TABLE agents_revision (revision INTEGER NOT NULL) STRICT;
INSERT INTO agents_revision VALUES (0);

CREATE INDEX agents_runtime ON agents (position) WHERE is_runtime = 1;

-- When each agent last answered. Apart from `agents`, in which built-in ones and files have no row.
CREATE TABLE agent_uses (
    agent TEXT PRIMARY KEY,
    last_used_at TEXT NOT NULL
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
    answered_by TEXT,
    owner TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;

CREATE INDEX runs_by_user ON runs (user_id, position);
CREATE INDEX runs_by_agent ON runs (agent, position);
CREATE INDEX runs_by_status ON runs (status, position);
CREATE INDEX runs_by_kind ON runs (kind, position);
CREATE INDEX runs_open ON runs (owner, position) WHERE status IN ('pending', 'running');

-- All that is counted of runs, so that metrics do not read what was asked and answered.
CREATE INDEX runs_counted ON runs (agent, kind, status, user_id, started_at, execution_time_ms,
    has_error, answered_by IS NOT NULL);

-- What happened in runs, in order: steps, delegations, messages, failures.
CREATE TABLE events (
    cursor INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_run ON events (run, cursor);
CREATE INDEX events_delegations ON events (cursor) WHERE kind = 'agent-delegation';

CREATE TABLE conversations (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    last_message_at TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;

CREATE INDEX conversations_by_time ON conversations (last_message_at, position);
CREATE INDEX conversations_by_user ON conversations (user_id, last_message_at, position);
CREATE INDEX conversations_by_agent ON conversations (agent, last_message_at, position);

-- What was said: in a conversation, in a run, or in both.
CREATE TABLE messages (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT,
    run TEXT,
    type TEXT NOT NULL CHECK (type IN ('user', 'agent', 'system')),
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX messages_by_conversation ON messages (conversation, position)
    WHERE conversation IS NOT NULL;
CREATE INDEX messages_by_run ON messages (run, position) WHERE run IS NOT NULL;

-- What the chat works on. Every key begins with the client, so that nothing is found under another's.
-- What SQL never searches is kept as one JSON record, whose keys are the columns of the specification.
CREATE TABLE clients (
    client_id TEXT PRIMARY KEY,
    client_type TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE designs (
    client_id TEXT PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;

CREATE TABLE components (
    client_id TEXT NOT NULL,
    component_id TEXT NOT NULL,
    display_order INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (client_id, component_id)
) STRICT;

-- The greatest number of a removed component of each client: no other component gets it.
CREATE TABLE removed_components (
    client_id TEXT PRIMARY KEY,
    component_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE security_groups (
    client_id TEXT NOT NULL,
    security_group_id TEXT NOT NULL,
    security_group_title TEXT NOT NULL,
    PRIMARY KEY (client_id, security_group_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE component_security_groups (
    client_id TEXT NOT NULL,
    component_id TEXT NOT NULL,
    security_group_id TEXT NOT NULL,
    PRIMARY KEY (client_id, component_id, security_group_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE questions (
    question_id TEXT PRIMARY KEY,
    question_text TEXT NOT NULL,
    options TEXT NOT NULL,
    client_type TEXT NOT NULL
) STRICT;

CREATE TABLE answers (
    client_id TEXT NOT NULL,
    question_id TEXT NOT NULL,
    chosen_options TEXT NOT NULL,
    PRIMARY KEY (client_id, question_id)
) STRICT;

CREATE TABLE media_library (
    client_id TEXT NOT NULL,
    library_id TEXT NOT NULL,
    s3_key TEXT NOT NULL,
    PRIMARY KEY (client_id, library_id)
) STRICT, WITHOUT ROWID;

-- What the chat remembers of each conversation: the client, what waits for an answer.
CREATE TABLE chats (
    conversation_id TEXT PRIMARY KEY,
    memory TEXT NOT NULL,
    used_at TEXT NOT NULL
) STRICT;
