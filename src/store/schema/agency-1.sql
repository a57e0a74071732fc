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
