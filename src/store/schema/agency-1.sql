-- agents.db, version 1: who does work, what was run and what was said. A file of its own, so that
-- commands about tasks neither read nor lock it. Lists that nothing searches are JSON arrays.

-- Built-in agents have a row only when something of them was changed. Files in .cleo/agents have none.
CREATE TABLE agents (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('builtin', 'runtime', 'persistent', 'http', 'cli')),
    user_id TEXT,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('supervisor', 'specialist', 'custom')),
    objective TEXT NOT NULL,
    prompt TEXT NOT NULL,
    model TEXT NOT NULL,
    temperature REAL NOT NULL,
    max_tokens INTEGER NOT NULL,
    color TEXT NOT NULL,
    icon TEXT NOT NULL,
    tags TEXT NOT NULL,
    tools TEXT NOT NULL,
    intents TEXT NOT NULL,
    capability TEXT,
    skills TEXT NOT NULL,
    endpoint TEXT,
    command TEXT NOT NULL,
    healthcheck TEXT,
    timeout_ms INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
    is_runtime INTEGER NOT NULL,
    created_at TEXT,
    updated_at TEXT,
    last_used_at TEXT
) STRICT;

CREATE INDEX agents_runtime ON agents (position) WHERE is_runtime = 1;

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
