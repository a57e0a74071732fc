-- The tables of the multi-agent specification, as views in `public` over the tables of this schema, and row-level
-- security. Applying it twice is the same as once. It works where an `auth` schema with `auth.uid()` exists, as on
-- Supabase, and elsewhere makes one.
--
-- Two roles; row security holds for both:
--     cleo_server   the server within a transaction for one user, whose name is the setting `cleo.user`
--     cleo_user     people and programs that use the views; on Supabase `authenticated` has the same rights
-- The owner of the tables sees all rows: migrations, background work, and callers with the scope admin.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true),
    set_config('client_min_messages', 'warning', true);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['cleo_server', 'cleo_user'] LOOP
        IF to_regrole(name) IS NULL THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        END IF;
    END LOOP;
    IF NOT pg_has_role(current_user, 'cleo_server',
            CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        EXECUTE format('GRANT cleo_server TO %I', current_user);
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
    WHEN insufficient_privilege THEN
        RAISE WARNING 'no right to make the roles cleo_server and cleo_user: %', SQLERRM;
END $$;

-- Ids and users of the specification are UUIDs; here they are texts. A text that is a UUID is that one; others have
-- one of their own (version 8), always the same.
CREATE OR REPLACE FUNCTION as_uuid(value text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length(value) = 36 AND value ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN value
        ELSE overlay(overlay(md5('cleo ' || value) PLACING '8' FROM 13) PLACING 'a' FROM 17) END::uuid;

-- A task has a ULID, which is a UUID in other digits.
-- Four of its digits are five of a UUID.
CREATE OR REPLACE FUNCTION ulid_as_uuid(ulid text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT right(string_agg(lpad(to_hex(
            (strpos(known, substr(digits, part, 1)) - 1 << 15) + (strpos(known, substr(digits, part + 1, 1)) - 1 << 10)
            + (strpos(known, substr(digits, part + 2, 1)) - 1 << 5) + strpos(known, substr(digits, part + 3, 1)) - 1
        ), 5, '0'), '' ORDER BY part), 32)::uuid
        FROM (VALUES ('0123456789ABCDEFGHJKMNPQRSTVWXYZ', '00' || ulid)) AS text (known, digits),
            generate_series(1, 25, 4) AS part);

CREATE OR REPLACE FUNCTION uuid_as_ulid(id uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',
            substring(B'00' || ('x' || replace(id::text, '-', ''))::bit(128) FROM 1 + 5 * place FOR 5)::bit(5)::integer
            + 1, 1), '' ORDER BY place) FROM generate_series(0, 25) AS place);

CREATE OR REPLACE FUNCTION as_text(moment timestamptz) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The name of the user whose rows are seen and written. The setting counts for logins of the server only, so that
-- others cannot name somebody else: they are the user of Supabase, or of the database.
DO $$
DECLARE
    own CONSTANT boolean := to_regnamespace('auth') IS NULL
        OR coalesce(obj_description(to_regprocedure('auth.uid()'), 'pg_proc') = 'made by cleo', false);
    other CONSTANT text := CASE WHEN NOT own AND to_regprocedure('auth.uid()') IS NOT NULL THEN 'auth.uid()::text'
        ELSE 'session_user::text' END;
BEGIN
    EXECUTE format($sql$
        CREATE OR REPLACE FUNCTION caller() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
            RETURN CASE WHEN pg_has_role(session_user, to_regrole('cleo_server')::oid, 'MEMBER')
                THEN nullif(current_setting('cleo.user', true), '') ELSE %s END$sql$, other);
    IF to_regnamespace('auth') IS NULL THEN
        CREATE SCHEMA auth;
        CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE RETURN as_uuid(caller());
        COMMENT ON FUNCTION auth.uid() IS 'made by cleo';
        GRANT USAGE ON SCHEMA auth TO PUBLIC;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'auth.uid() was not made: %', SQLERRM;
END $$;

ALTER TABLE agents ADD COLUMN IF NOT EXISTS user_id TEXT COLLATE "C"
    GENERATED ALWAYS AS (record ->> 'user_id') STORED;
CREATE INDEX IF NOT EXISTS idx_agents_user_id ON agents (user_id);
CREATE INDEX IF NOT EXISTS idx_agents_status ON agents ((record ->> 'status'));
CREATE INDEX IF NOT EXISTS idx_agents_role ON agents ((record ->> 'role'));
CREATE INDEX IF NOT EXISTS idx_agents_is_runtime ON agents (is_runtime);
CREATE INDEX IF NOT EXISTS idx_agents_tags ON agents USING gin ((CAST(record AS jsonb) -> 'tags'));

-- Who added each task, from the log. All users of a workspace share its tasks; the views of the specification show
-- each user the own ones.
CREATE TABLE IF NOT EXISTS task_owners (
    task BIGINT PRIMARY KEY REFERENCES tasks (number) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL UNIQUE
);
CREATE INDEX IF NOT EXISTS task_owners_by_user ON task_owners (user_id, task);

-- An agent of a user, `ann/x`, adds for the user. A task that is restored has its first author.
CREATE OR REPLACE FUNCTION note_task_owner() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO task_owners SELECT t.number, split_part(o.by, '/', 1), ulid_as_uuid(t.uid) FROM tasks t, operations o
        WHERE t.number = NEW.task AND o.number = CASE NEW.kind WHEN 'added' THEN NEW.operation
            ELSE (SELECT operation FROM changes c WHERE c.task = NEW.task ORDER BY sequence LIMIT 1) END
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_task_owner AFTER INSERT ON changes FOR EACH ROW
    WHEN (NEW.kind IN ('added', 'restored')) EXECUTE FUNCTION note_task_owner();

INSERT INTO task_owners SELECT t.number, coalesce((SELECT split_part(o.by, '/', 1)
        FROM changes c JOIN operations o ON o.number = c.operation
        WHERE c.task = t.number ORDER BY c.sequence LIMIT 1), ''), ulid_as_uuid(t.uid)
    FROM tasks t ON CONFLICT DO NOTHING;

-- Returns the greatest number of a table. Writers may not see its row, and would look for it among all foreign ones.
CREATE OR REPLACE FUNCTION last_number(of_table text) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
BEGIN
    RETURN coalesce(CASE of_table
        WHEN 'runs' THEN (SELECT max(position) FROM runs)
        WHEN 'conversations' THEN (SELECT max(position) FROM conversations)
        WHEN 'messages' THEN (SELECT max(position) FROM messages)
        WHEN 'events' THEN (SELECT max(cursor) FROM events) END, 0);
END $$;

-- Returns whether an id is taken, also by an agent that the caller does not see.
CREATE OR REPLACE FUNCTION is_agent_taken(agent text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path FROM CURRENT AS 'SELECT EXISTS (SELECT FROM agents WHERE id = agent)';

-- Row-level security. The five policies of the specification are here, on the tables that the views show.
CREATE OR REPLACE FUNCTION chat_key(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 16) || ':';

DO $$
DECLARE
    place CONSTANT text := quote_ident(current_schema());
    policy record;
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['agents', 'runs', 'events', 'conversations', 'messages', 'records', 'tasks',
            'task_owners', 'task_labels'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS owner_access ON %I', name);
        EXECUTE format('CREATE POLICY owner_access ON %I TO CURRENT_USER USING (true)', name);
    END LOOP;
    FOR policy IN SELECT * FROM (VALUES
        ('agents', 'agents_user_access', 'ALL TO PUBLIC', 'user_id = (SELECT caller())'),
        ('agents', 'shared_access', 'SELECT TO cleo_server', 'user_id IS NULL OR is_runtime = 1'),
        ('runs', 'executions_user_access', 'ALL TO PUBLIC', 'user_id = (SELECT caller())'),
        ('events', 'events_user_access', 'ALL TO PUBLIC', 'EXISTS (SELECT FROM runs r WHERE r.id = run)'),
        ('conversations', 'conversations_user_access', 'ALL TO PUBLIC', 'user_id = (SELECT caller())'),
        ('messages', 'messages_user_access', 'ALL TO PUBLIC', 'CASE WHEN conversation IS NULL
            THEN EXISTS (SELECT FROM runs r WHERE r.id = run)
            ELSE EXISTS (SELECT FROM conversations c WHERE c.id = conversation) END'),
        ('records', 'chat_user_access', 'ALL TO cleo_server', 'kind <> ''chat''
            OR starts_with(id, chat_key((SELECT caller())))
            OR EXISTS (SELECT FROM conversations c WHERE c.id = records.id)'),
        ('tasks', 'tasks_user_access', 'ALL TO PUBLIC', 'EXISTS (SELECT FROM task_owners o
            WHERE o.task = number AND o.user_id = (SELECT caller()))'),
        ('tasks', 'workspace_access', 'ALL TO cleo_server', 'true'),
        ('task_owners', 'owners_user_access', 'ALL TO PUBLIC', 'user_id = (SELECT caller())'),
        ('task_owners', 'workspace_access', 'ALL TO cleo_server', 'true'),
        ('task_labels', 'labels_user_access', 'ALL TO PUBLIC', 'EXISTS (SELECT FROM tasks t WHERE t.number = task)'),
        ('task_labels', 'workspace_access', 'ALL TO cleo_server', 'true')
    ) AS policies (on_table, name, access, condition) LOOP
        EXECUTE format('DROP POLICY IF EXISTS %I ON %I', policy.name, policy.on_table);
        IF policy.access NOT LIKE '% TO cleo_server' OR to_regrole('cleo_server') IS NOT NULL THEN
            EXECUTE format('CREATE POLICY %I ON %I FOR %s USING (%s)', policy.name, policy.on_table, policy.access,
                policy.condition);
        END IF;
    END LOOP;
    IF to_regrole('cleo_server') IS NOT NULL THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %s TO cleo_server', place);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO cleo_server', place);
        EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %s
            GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO cleo_server', place);
        REVOKE INSERT, UPDATE, DELETE ON migrations FROM cleo_server;
    END IF;
END $$;

-- What writers of the views may do. The functions below run as the owner of the tables, so they check the caller.

-- Returns the name of a user whose rows the caller may write and count: the caller's own, or anybody's for a role that
-- sees all rows.
CREATE OR REPLACE FUNCTION require_user(id uuid, message text) RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    role CONSTANT text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    name text;
BEGIN
    IF as_uuid(caller()) = id THEN
        RETURN caller();
    END IF;
    IF NOT (SELECT rolsuper OR rolbypassrls OR pg_has_role(oid, current_user, 'MEMBER')
            FROM pg_roles WHERE rolname = role) THEN
        RAISE insufficient_privilege USING MESSAGE = message;
    END IF;
    SELECT user_id INTO name FROM (SELECT user_id FROM agents UNION SELECT user_id FROM runs
        UNION SELECT user_id FROM conversations UNION SELECT user_id FROM task_owners) AS users
        WHERE as_uuid(user_id) = id LIMIT 1;
    RETURN coalesce(name, id::text);
END $$;

-- Refuses a row without a value that it needs, or with a word that is none of a list. `words` has for each column the
-- name of its constraint and the words.
CREATE OR REPLACE FUNCTION check_row(relation text, row_value jsonb, needed text[], words jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY needed LOOP
        IF row_value ->> name IS NULL THEN
            RAISE not_null_violation USING COLUMN = name, TABLE = relation, MESSAGE =
                format('null value in column "%s" of relation "%s" violates not-null constraint', name, relation);
        END IF;
    END LOOP;
    FOR name IN SELECT jsonb_object_keys(words) LOOP
        IF NOT words -> name -> 1 ? (row_value ->> name) THEN
            RAISE check_violation USING CONSTRAINT = words -> name ->> 0, TABLE = relation, MESSAGE =
                format('new row for relation "%s" violates check constraint "%s"', relation, words -> name ->> 0);
        END IF;
    END LOOP;
    FOREACH name IN ARRAY ARRAY['tags', 'tools'] LOOP
        IF jsonb_typeof(row_value -> name) NOT IN ('array', 'null')
                OR jsonb_path_exists(row_value -> name, '$[*] ? (@.type() != "string")') THEN
            RAISE check_violation USING COLUMN = name, TABLE = relation, MESSAGE =
                format('%s of relation "%s" must be an array of texts', name, relation);
        END IF;
    END LOOP;
END $$;

-- Writers take turns, with the same lock as those of the program, and servers hear of what they write.
CREATE OR REPLACE FUNCTION begin_writing() RETURNS void LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('cleo ' || current_schema(), 0)), pg_notify('cleo', '')
$$;

-- Returns the text id of an agent that the caller sees. The built-in ones have rows only when they were changed.
CREATE OR REPLACE FUNCTION require_agent(agent uuid, relation text, user_name text) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path FROM CURRENT AS $$
DECLARE name text;
BEGIN
    IF agent IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT id INTO name FROM (
            SELECT id FROM agents WHERE user_id = user_name OR user_id IS NULL OR is_runtime = 1
            UNION ALL VALUES ('cleo-supervisor'), ('toby-technical'), ('ami-creative'), ('peter-logical')
        ) AS known WHERE as_uuid(id) = agent LIMIT 1;
    IF name IS NULL THEN
        RAISE foreign_key_violation USING TABLE = relation, MESSAGE =
            format('insert or update on table "%s" names an agent that is not there: %s', relation, agent);
    END IF;
    RETURN name;
END $$;

CREATE OR REPLACE FUNCTION remove_conversations(which text[]) RETURNS void LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    DELETE FROM messages WHERE conversation = ANY (which);
    DELETE FROM records WHERE kind = 'chat' AND owner = '' AND id = ANY (which);
    DELETE FROM conversations WHERE id = ANY (which);
$$;

CREATE OR REPLACE FUNCTION remove_runs(which text[]) RETURNS void LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    DELETE FROM messages WHERE run = ANY (which);
    DELETE FROM events WHERE run = ANY (which);
    DELETE FROM runs WHERE id = ANY (which);
$$;

CREATE OR REPLACE FUNCTION write_agent() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    name text;
    revision bigint;
    fields jsonb;
    task bigint;
BEGIN
    PERFORM begin_writing();
    INSERT INTO counters VALUES ('agents', 1, 0) ON CONFLICT ON CONSTRAINT counters_pkey
        DO UPDATE SET value = counters.value + 1 RETURNING value INTO revision;
    IF TG_OP = 'DELETE' THEN
        PERFORM remove_conversations((SELECT array_agg(id) FROM conversations
            WHERE agent = OLD.slug AND as_uuid(user_id) = OLD.user_id));
        UPDATE runs SET agent = NULL, record = (record::jsonb || '{"agent": null}')::json
            WHERE agent = OLD.slug AND as_uuid(user_id) = OLD.user_id;
        FOR task IN SELECT number FROM tasks WHERE assigned_agent = OLD.slug LOOP
            PERFORM change_task(task, coalesce(caller(), session_user), '{"assignedAgent": null}');
        END LOOP;
        DELETE FROM agents WHERE id = OLD.slug;
        RETURN OLD;
    END IF;
    PERFORM check_row('agents', to_jsonb(NEW), ARRAY['id', 'user_id', 'name', 'role', 'prompt', 'model'],
        '{"role": ["valid_role", ["supervisor", "specialist", "custom"]],
          "status": ["valid_status", ["active", "paused", "archived"]]}');
    name := require_user(NEW.user_id, 'new row violates row-level security policy for table "agents"');
    fields := jsonb_build_object('name', NEW.name, 'description', coalesce(NEW.description, ''), 'role', NEW.role,
        'objective', coalesce(NEW.objective, ''), 'prompt', NEW.prompt, 'model', NEW.model,
        'temperature', coalesce(NEW.temperature, 0.7), 'max_tokens', coalesce(NEW.max_tokens, 4000),
        'color', coalesce(NEW.color, '#6B7280'), 'icon', coalesce(NEW.icon, 'robot'),
        'tags', coalesce(NEW.tags, '[]'), 'tools', coalesce(NEW.tools, '[]'), 'status', coalesce(NEW.status, 'active'),
        'last_used_at', as_text(NEW.last_used_at));
    IF TG_OP = 'INSERT' THEN
        NEW.slug := CASE WHEN NEW.is_runtime
            THEN 'custom_' || (extract(epoch FROM clock_timestamp()) * 1000)::bigint ELSE NEW.id::text END;
        NEW.id := as_uuid(NEW.slug);
        fields := fields || jsonb_build_object('id', NEW.slug, 'user_id', name,
            'is_runtime', coalesce(NEW.is_runtime, false), 'created_at', as_text(coalesce(NEW.created_at, now())),
            'updated_at', as_text(coalesce(NEW.updated_at, now())),
            'kind', CASE WHEN NEW.is_runtime THEN 'runtime' ELSE 'persistent' END)
            || '{"is_builtin": false, "intents": [], "capability": null, "skills": [], "endpoint": null,
                "command": [], "healthcheck": null, "timeout_ms": 5000}';
        INSERT INTO agents VALUES (NEW.slug, revision, coalesce(NEW.is_runtime, false)::integer, fields::json, 0);
    ELSE
        IF (NEW.id, NEW.user_id, NEW.is_runtime, NEW.slug)
                IS DISTINCT FROM (OLD.id, OLD.user_id, OLD.is_runtime, OLD.slug) THEN
            RAISE feature_not_supported USING MESSAGE = 'id, user_id, is_runtime and slug of an agent do not change';
        END IF;
        NEW.updated_at := now();
        UPDATE agents SET record = (record::jsonb || fields || jsonb_build_object('updated_at', as_text(now())))::json
            WHERE id = OLD.slug;
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION write_execution() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    name text;
    agent_name text;
    fields jsonb;
BEGIN
    PERFORM begin_writing();
    IF TG_OP = 'DELETE' THEN
        PERFORM remove_runs((SELECT array_agg(id) FROM runs WHERE as_uuid(id) = OLD.id));
        RETURN OLD;
    END IF;
    PERFORM check_row('agent_executions', to_jsonb(NEW), ARRAY['id', 'user_id', 'input_message'],
        '{"status": ["valid_execution_status", ["pending", "running", "completed", "failed", "cancelled"]]}');
    name := require_user(NEW.user_id, 'new row violates row-level security policy for table "agent_executions"');
    IF TG_OP = 'INSERT' OR NEW.agent_id IS DISTINCT FROM OLD.agent_id THEN
        agent_name := require_agent(NEW.agent_id, 'agent_executions', name);
    END IF;
    fields := jsonb_build_object('input', NEW.input_message, 'output', NEW.output_message,
        'routingReason', coalesce(NEW.routing_reason, ''), 'routingScore', greatest(coalesce(NEW.routing_score, 0), 0),
        'executionTimeMs', CASE WHEN NEW.execution_time_ms >= 0 THEN NEW.execution_time_ms END,
        'cost', NEW.cost_estimate,
        'usage', CASE WHEN jsonb_typeof(NEW.token_usage) = 'object' AND NEW.token_usage <> '{}' AND NOT NEW.token_usage
            @? '$.keyvalue() ? (@.value.type() != "number" && @.value.type() != "null" || @.value < 0)'
            THEN NEW.token_usage END,
        'completedAt', as_text(NEW.completed_at));
    IF TG_OP = 'INSERT' THEN
        fields := fields || jsonb_build_object('id', NEW.id, 'user', name, 'agent', agent_name,
            'status', coalesce(NEW.status, 'pending'), 'startedAt', as_text(coalesce(NEW.started_at, now())),
            'supervisor', coalesce(require_agent(NEW.supervisor_id, 'agent_executions', name), 'cleo-supervisor'))
            || '{"kind": "execution", "requestedAgent": null, "routedBy": "requested", "answeredBy": null,
                "model": null, "error": null, "conversation": null}';
        INSERT INTO runs VALUES (last_number('runs') + 1, NEW.id, 'execution', fields ->> 'status', name, agent_name,
            fields ->> 'startedAt', (fields ->> 'executionTimeMs')::bigint, 0, '', fields::json, 0);
    ELSE
        IF (NEW.id, NEW.user_id, NEW.started_at, NEW.supervisor_id)
                IS DISTINCT FROM (OLD.id, OLD.user_id, OLD.started_at, OLD.supervisor_id) THEN
            RAISE feature_not_supported USING
                MESSAGE = 'id, user_id, supervisor_id and started_at of an execution do not change';
        END IF;
        IF NEW.status IS DISTINCT FROM OLD.status THEN
            fields := fields || jsonb_build_object('status', NEW.status);
        END IF;
        IF NEW.agent_id IS DISTINCT FROM OLD.agent_id THEN
            fields := fields || jsonb_build_object('agent', agent_name);
        END IF;
        UPDATE runs SET record = (record::jsonb || fields)::json, status = coalesce(fields ->> 'status', status),
            agent = CASE WHEN fields ? 'agent' THEN agent_name ELSE agent END,
            execution_time_ms = (fields ->> 'executionTimeMs')::bigint
            WHERE as_uuid(id) = OLD.id AND as_uuid(user_id) = OLD.user_id;
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION write_conversation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    name text;
    agent_name text;
    fields jsonb;
BEGIN
    PERFORM begin_writing();
    IF TG_OP = 'DELETE' THEN
        PERFORM remove_conversations((SELECT array_agg(id) FROM conversations WHERE as_uuid(id) = OLD.id));
        RETURN OLD;
    END IF;
    PERFORM check_row('agent_conversations', to_jsonb(NEW), ARRAY['id', 'user_id', 'agent_id'],
        '{"status": ["valid_conversation_status", ["active", "archived"]]}');
    name := require_user(NEW.user_id, 'new row violates row-level security policy for table "agent_conversations"');
    IF TG_OP = 'INSERT' THEN
        agent_name := require_agent(NEW.agent_id, 'agent_conversations', name);
        fields := jsonb_build_object('id', NEW.id, 'user_id', name, 'agent_id', agent_name, 'title', NEW.title,
            'kind', 'agent', 'status', coalesce(NEW.status, 'active'),
            'created_at', as_text(coalesce(NEW.created_at, now())),
            'updated_at', as_text(coalesce(NEW.updated_at, now())),
            'last_message_at', as_text(coalesce(NEW.last_message_at, now())));
        INSERT INTO conversations VALUES (last_number('conversations') + 1, NEW.id, name, agent_name,
            fields ->> 'status', fields ->> 'last_message_at', fields::json, 0);
    ELSE
        IF (NEW.id, NEW.user_id, NEW.agent_id, NEW.created_at)
                IS DISTINCT FROM (OLD.id, OLD.user_id, OLD.agent_id, OLD.created_at) THEN
            RAISE feature_not_supported USING
                MESSAGE = 'id, user_id, agent_id and created_at of a conversation do not change';
        END IF;
        NEW.updated_at := now();
        fields := jsonb_build_object('title', NEW.title, 'status', coalesce(NEW.status, 'active'),
            'updated_at', as_text(now()),
            'last_message_at', as_text(coalesce(NEW.last_message_at, OLD.last_message_at)));
        UPDATE conversations SET record = (record::jsonb || fields)::json, status = fields ->> 'status',
            last_message_at = fields ->> 'last_message_at'
            WHERE as_uuid(id) = OLD.id AND as_uuid(user_id) = OLD.user_id;
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION write_message() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE place record;
BEGIN
    PERFORM begin_writing();
    SELECT id, user_id, status INTO place FROM conversations
        WHERE as_uuid(id) = coalesce(OLD.conversation_id, NEW.conversation_id)
            AND (caller() IS NULL OR user_id = caller());
    PERFORM require_user(as_uuid(place.user_id),
        'new row violates row-level security policy for table "conversation_messages"');
    IF place.id IS NULL THEN
        RAISE foreign_key_violation USING MESSAGE = 'there is no such conversation';
    END IF;
    IF TG_OP = 'DELETE' THEN
        DELETE FROM messages WHERE conversation = place.id AND as_uuid(id) = OLD.id;
        RETURN OLD;
    END IF;
    PERFORM check_row('conversation_messages', to_jsonb(NEW), ARRAY['id', 'conversation_id', 'type', 'content'],
        '{"type": ["valid_message_type", ["user", "agent", "system"]]}');
    IF jsonb_typeof(NEW.metadata) <> 'object' THEN
        RAISE check_violation USING MESSAGE = 'metadata of a message must be an object';
    END IF;
    IF TG_OP = 'INSERT' THEN
        NEW.created_at := coalesce(NEW.created_at, now());
        INSERT INTO messages VALUES (last_number('messages') + 1, NEW.id, place.id, NULL, NEW.type, NEW.content,
            coalesce(NEW.metadata, '{}'), as_text(NEW.created_at), 0);
        UPDATE conversations SET last_message_at = greatest(last_message_at, as_text(NEW.created_at)),
            record = (record::jsonb || jsonb_build_object('updated_at', as_text(now()),
                'last_message_at', greatest(last_message_at, as_text(NEW.created_at))))::json WHERE id = place.id;
    ELSE
        IF (NEW.id, NEW.conversation_id, NEW.created_at)
                IS DISTINCT FROM (OLD.id, OLD.conversation_id, OLD.created_at) THEN
            RAISE feature_not_supported USING
                MESSAGE = 'id, conversation_id and created_at of a message do not change';
        END IF;
        UPDATE messages SET type = NEW.type, content = NEW.content, metadata = coalesce(NEW.metadata, '{}')
            WHERE conversation = place.id AND as_uuid(id) = OLD.id;
    END IF;
    RETURN NEW;
END $$;

-- Tasks. What the program keeps beside a task is kept here too: its row in the graph, the counters and the log.
CREATE OR REPLACE FUNCTION task_json(task bigint) RETURNS jsonb LANGUAGE sql STABLE
    SET search_path FROM CURRENT AS $$
    SELECT jsonb_build_object('id', 'T' || t.number, 'uid', t.uid, 'title', t.title, 'type', t.type, 'status', t.status,
        'priority', t.priority, 'parent', 'T' || t.parent, 'depends', (SELECT coalesce(jsonb_agg('T' || needs
            ORDER BY position), '[]') FROM task_depends d WHERE d.task = t.number),
        'labels', (SELECT coalesce(jsonb_agg(label ORDER BY position), '[]') FROM task_labels l
            WHERE l.task = t.number),
        'phase', t.phase, 'size', t.size, 'description', t.description, 'acceptance', t.acceptance::jsonb,
        'files', t.files::jsonb, 'deliverables', t.deliverables::jsonb, 'notes', t.notes::jsonb,
        'assignedAgent', t.assigned_agent, 'due', t.due, 'estimate', t.estimate, 'feature', t.feature, 'key', t.key,
        'createdAt', t.created_at, 'updatedAt', t.updated_at, 'startedAt', t.started_at,
        'completedAt', t.completed_at, 'cancelledAt', t.cancelled_at, 'extra', t.extra::jsonb)
    FROM tasks t WHERE t.number = task
$$;

CREATE OR REPLACE FUNCTION add_to_counter(counter text, added bigint) RETURNS void LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE counters SET value = value + added WHERE name = counter;
    IF NOT FOUND THEN
        INSERT INTO counters SELECT counter, CASE counter
            WHEN 'ready' THEN (SELECT count(*) FROM nodes WHERE is_ready = 1)
            ELSE (SELECT count(*) FROM tasks WHERE status = counter AND archived_at IS NULL) END, 0;
    END IF;
END $$;

-- Computes the rows of the graph of tasks anew, without the chains, which do not depend on a status.
CREATE OR REPLACE FUNCTION refresh_nodes(numbers bigint[]) RETURNS void LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
DECLARE ready CONSTANT bigint := (SELECT count(*) FROM nodes WHERE number = ANY (numbers) AND is_ready = 1);
BEGIN
    UPDATE nodes n SET status = now.status, rank = now.rank, open_needs = now.open_needs,
        dropped_needs = now.dropped_needs, open_children = now.open_children, is_open = now.is_open,
        is_ready = (now.status = 'pending' AND n.is_epic = 0 AND n.dangling = 0 AND now.open_needs = 0
            AND now.open_children = 0)::integer,
        is_stuck = (now.is_open = 1 AND (n.dangling > 0 OR now.dropped_needs > 0
            OR n.is_epic = 1 AND now.open_children = 0))::integer
    FROM (SELECT t.number, t.status, array_position(ARRAY['critical', 'high', 'medium', 'low'], t.priority) - 1 AS rank,
            (t.status NOT IN ('done', 'cancelled'))::integer AS is_open,
            (SELECT count(*) FROM task_depends d JOIN tasks o ON o.number = d.needs
                WHERE d.task = t.number AND o.status <> 'done') AS open_needs,
            (SELECT count(*) FROM task_depends d JOIN tasks o ON o.number = d.needs
                WHERE d.task = t.number AND o.status = 'cancelled') AS dropped_needs,
            (SELECT count(*) FROM tasks c WHERE c.parent = t.number AND c.status NOT IN ('done', 'cancelled'))
                AS open_children
        FROM tasks t WHERE t.number = ANY (numbers)) AS now
    WHERE n.number = now.number;
    PERFORM add_to_counter('ready', (SELECT count(*) FROM nodes WHERE number = ANY (numbers) AND is_ready = 1) - ready);
END $$;

CREATE OR REPLACE FUNCTION log_change(author text, change text, task bigint, detail jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
DECLARE
    next CONSTANT bigint := (SELECT coalesce(max(sequence), 0) + 1 FROM changes);
    operation CONSTANT bigint := (SELECT coalesce(max(number), 0) + 1 FROM operations);
BEGIN
    INSERT INTO operations VALUES (operation, as_text(clock_timestamp()), author, 'sql', next, NULL, NULL, 0);
    INSERT INTO changes VALUES (next, operation, change, task, detail, 0);
END $$;

CREATE OR REPLACE FUNCTION write_labels(number bigint, labels jsonb) RETURNS void LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    DELETE FROM task_labels WHERE task = number;
    INSERT INTO task_labels SELECT number, place - 1, label, normalized(label)
        FROM jsonb_array_elements_text(labels) WITH ORDINALITY AS given (label, place);
$$;

-- Changes fields of a task, which have the names that they have in its JSON.
CREATE OR REPLACE FUNCTION change_task(task bigint, author text, fields jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
DECLARE
    before CONSTANT jsonb := task_json(task);
    changed jsonb;
BEGIN
    changed := before || fields;
    UPDATE tasks t SET title = changed ->> 'title', description = changed ->> 'description',
        status = changed ->> 'status', priority = changed ->> 'priority', assigned_agent = changed ->> 'assignedAgent',
        due = changed ->> 'due', estimate = (changed ->> 'estimate')::double precision, feature = changed ->> 'feature',
        updated_at = as_text(clock_timestamp()), started_at = changed ->> 'startedAt',
        completed_at = changed ->> 'completedAt', cancelled_at = changed ->> 'cancelledAt', checksum = 0
        WHERE t.number = change_task.task;
    IF changed -> 'labels' <> before -> 'labels' THEN
        PERFORM write_labels(task, changed -> 'labels');
    END IF;
    IF changed ->> 'status' <> before ->> 'status' THEN
        PERFORM add_to_counter(before ->> 'status', -1), add_to_counter(changed ->> 'status', 1);
    END IF;
    IF (changed ->> 'status', changed ->> 'priority') <> (before ->> 'status', before ->> 'priority') THEN
        PERFORM refresh_nodes(array(SELECT task UNION SELECT d.task FROM task_depends d
            WHERE d.needs = change_task.task UNION SELECT parent FROM tasks t WHERE t.number = change_task.task));
    END IF;
    SELECT jsonb_object_agg(key, jsonb_build_object('from', before -> key, 'to', value)) INTO changed
        FROM jsonb_each(changed) WHERE before -> key IS DISTINCT FROM value AND key <> 'updatedAt';
    IF changed IS NOT NULL THEN
        PERFORM log_change(author, 'changed', task, changed);
    END IF;
END $$;

-- Refuses what the program proves or guards otherwise: to finish or move a task that somebody works on, that has to be
-- verified, or that waits for others.
CREATE OR REPLACE FUNCTION refuse_move(task bigint, to_status text) RETURNS void LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
DECLARE why text;
BEGIN
    SELECT CASE
        WHEN (SELECT archived_at IS NOT NULL FROM tasks t WHERE t.number = refuse_move.task) THEN 'is archived'
        WHEN EXISTS (SELECT FROM claims c WHERE c.task = refuse_move.task AND holder IS NOT NULL
            AND expires > as_text(now())) THEN 'is held by somebody who works on it'
        WHEN to_status NOT IN ('done', 'deleted') THEN NULL
        WHEN EXISTS (SELECT FROM spawns s WHERE s.task = refuse_move.task)
            OR EXISTS (SELECT FROM gates g WHERE g.task = refuse_move.task) THEN 'has to be verified'
        WHEN to_status = 'done' AND EXISTS (SELECT FROM nodes n WHERE n.number = refuse_move.task
            AND open_needs + open_children + dangling > 0) THEN 'waits for others'
        WHEN to_status = 'deleted' AND (EXISTS (SELECT FROM task_depends d WHERE refuse_move.task IN (d.task, d.needs))
            OR EXISTS (SELECT FROM tasks t WHERE t.parent = refuse_move.task)) THEN 'belongs to others'
        END INTO why;
    IF why IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('T%s %s; use cleo', task, why);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION status_of(word text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE word WHEN 'todo' THEN 'pending' WHEN 'doing' THEN 'active' ELSE coalesce(word, 'pending') END;

CREATE OR REPLACE FUNCTION write_task() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    name text;
    place bigint;
    fields jsonb;
    moved CONSTANT boolean := TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.status IS DISTINCT FROM OLD.status;
BEGIN
    PERFORM begin_writing();
    IF TG_OP <> 'INSERT' THEN
        SELECT task INTO place FROM task_owners WHERE id = OLD.id;
    END IF;
    IF TG_OP = 'DELETE' THEN
        PERFORM refuse_move(place, 'deleted');
        PERFORM log_change(coalesce(caller(), session_user), 'deleted', place,
            jsonb_build_object('task', task_json(place)) || '{"spawns": [], "links": [], "claim": null,
                "is_damaged": false, "gates": {"failures": [], "gates": {}, "round": 0}}');
        PERFORM add_to_counter(status, -1) FROM tasks WHERE number = place;
        PERFORM add_to_counter('ready', -is_ready) FROM nodes WHERE number = place;
        DELETE FROM nodes WHERE number = place;
        DELETE FROM tasks WHERE number = place;
        RETURN OLD;
    END IF;
    PERFORM check_row('agent_tasks', to_jsonb(NEW), ARRAY['id', 'user_id', 'created_by', 'title'],
        '{"status": ["valid_task_status", ["todo", "doing", "review", "done", "paused", "cancelled"]],
          "priority": ["valid_task_priority", ["low", "medium", "high", "urgent"]]}');
    name := require_user(NEW.user_id, 'new row violates row-level security policy for table "agent_tasks"');
    IF NEW.created_by <> NEW.user_id THEN
        RAISE check_violation USING MESSAGE = 'created_by of a task is its user_id';
    END IF;
    IF moved THEN
        NEW.started_at := coalesce(NEW.started_at, CASE WHEN NEW.status = 'doing' THEN now() END);
        NEW.completed_at := CASE WHEN NEW.status = 'done' THEN coalesce(NEW.completed_at, now()) END;
    END IF;
    fields := jsonb_build_object('title', NEW.title, 'description', coalesce(NEW.description, ''),
        'due', as_text(NEW.due_date), 'estimate', NEW.estimated_hours, 'labels', coalesce(NEW.tags, '[]'),
        'feature', NEW.feature, 'startedAt', as_text(NEW.started_at), 'completedAt', as_text(NEW.completed_at));
    IF moved THEN
        fields := fields || jsonb_build_object('status', status_of(NEW.status),
            'cancelledAt', CASE WHEN NEW.status = 'cancelled' THEN as_text(now()) END);
    END IF;
    IF TG_OP = 'INSERT' OR NEW.priority IS DISTINCT FROM OLD.priority THEN
        fields := fields || jsonb_build_object('priority',
            CASE NEW.priority WHEN 'urgent' THEN 'critical' ELSE coalesce(NEW.priority, 'medium') END);
    END IF;
    IF TG_OP = 'INSERT' OR NEW.assigned_to IS DISTINCT FROM OLD.assigned_to THEN
        fields := fields || jsonb_build_object('assignedAgent', require_agent(NEW.assigned_to, 'agent_tasks', name));
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF (NEW.id, NEW.user_id, NEW.created_at) IS DISTINCT FROM (OLD.id, OLD.user_id, OLD.created_at) THEN
            RAISE feature_not_supported USING MESSAGE = 'id, user_id and created_at of a task do not change';
        END IF;
        PERFORM refuse_move(place, CASE WHEN moved THEN NEW.status END) WHERE moved;
        NEW.updated_at := now();
        PERFORM change_task(place, name, fields);
        RETURN NEW;
    END IF;
    place := coalesce((SELECT value FROM counters c WHERE c.name = 'next_task'),
        (SELECT greatest((SELECT max(number) FROM tasks), (SELECT max(task) FROM changes), 0) + 1));
    INSERT INTO counters VALUES ('next_task', place + 1, 0) ON CONFLICT ON CONSTRAINT counters_pkey
        DO UPDATE SET value = excluded.value;
    INSERT INTO tasks VALUES (place, uuid_as_ulid(NEW.id), NEW.title, fields ->> 'description', 'task',
        fields ->> 'status', NULL, fields ->> 'priority', NULL, NULL, '[]', '[]', '[]', '[]',
        fields ->> 'assignedAgent', fields ->> 'due', NEW.estimated_hours, NEW.feature, NULL, '{}',
        as_text(coalesce(NEW.created_at, now())), as_text(coalesce(NEW.updated_at, now())), fields ->> 'startedAt',
        fields ->> 'completedAt', fields ->> 'cancelledAt', NULL, 0);
    PERFORM write_labels(place, fields -> 'labels');
    INSERT INTO nodes VALUES (place, NULL, 'new', 2, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    PERFORM refresh_nodes(ARRAY[place]), add_to_counter(fields ->> 'status', 1),
        log_change(name, 'added', place, jsonb_build_object('title', NEW.title));
    RETURN NEW;
END $$;

-- The views, where their names are free.
DO $$
DECLARE
    view record;
    name text;
    own CONSTANT oid := current_schema()::regnamespace::oid;
BEGIN
    IF current_schema() = 'public' OR EXISTS (SELECT FROM pg_class c WHERE relnamespace = 'public'::regnamespace
            AND relname IN ('agents', 'agent_executions', 'agent_conversations', 'conversation_messages', 'agent_tasks')
            AND NOT EXISTS (SELECT FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
                JOIN pg_class base ON base.oid = d.refobjid
                WHERE r.ev_class = c.oid AND base.relnamespace = own)) THEN
        RAISE WARNING 'the views of the agents system are not made: their names in the schema public are taken';
        RETURN;
    END IF;
    CREATE OR REPLACE VIEW public.agents WITH (security_invoker = true) AS SELECT
        as_uuid(id) AS id, as_uuid(user_id) AS user_id, (record ->> 'name')::varchar(100) AS name,
        record ->> 'description' AS description, (record ->> 'role')::varchar(50) AS role,
        record ->> 'objective' AS objective, record ->> 'prompt' AS prompt, (record ->> 'model')::varchar(100) AS model,
        (record ->> 'temperature')::numeric(3, 2) AS temperature, (record ->> 'max_tokens')::integer AS max_tokens,
        (record ->> 'color')::varchar(7) AS color, (record ->> 'icon')::varchar(50) AS icon,
        (record -> 'tags')::jsonb AS tags, (record -> 'tools')::jsonb AS tools,
        (record ->> 'status')::varchar(20) AS status, is_runtime = 1 AS is_runtime,
        (record ->> 'created_at')::timestamptz AS created_at, (record ->> 'updated_at')::timestamptz AS updated_at,
        (record ->> 'last_used_at')::timestamptz AS last_used_at, id AS slug
    FROM agents;
    CREATE OR REPLACE VIEW public.agent_executions WITH (security_invoker = true) AS SELECT
        as_uuid(id) AS id, as_uuid(user_id) AS user_id, as_uuid(agent) AS agent_id,
        as_uuid(record ->> 'supervisor') AS supervisor_id, record ->> 'input' AS input_message,
        record ->> 'output' AS output_message,
        (CASE WHEN status IN ('unanswered', 'interrupted') THEN 'failed' ELSE status END)::varchar(20) AS status,
        record ->> 'routingReason' AS routing_reason, (record ->> 'routingScore')::integer AS routing_score,
        (CASE WHEN execution_time_ms < 2147483647 THEN execution_time_ms END)::integer AS execution_time_ms,
        CASE json_typeof(record -> 'usage') WHEN 'object' THEN (record -> 'usage')::jsonb ELSE '{}' END AS token_usage,
        (CASE WHEN (record ->> 'cost')::numeric < 9999 THEN record ->> 'cost' END)::numeric(10, 6) AS cost_estimate,
        started_at::timestamptz AS started_at, (record ->> 'completedAt')::timestamptz AS completed_at
    FROM runs WHERE kind = 'execution';
    CREATE OR REPLACE VIEW public.agent_conversations WITH (security_invoker = true) AS SELECT
        as_uuid(id) AS id, as_uuid(user_id) AS user_id, as_uuid(agent) AS agent_id,
        (record ->> 'title')::varchar(200) AS title, status::varchar(20) AS status,
        (record ->> 'created_at')::timestamptz AS created_at, (record ->> 'updated_at')::timestamptz AS updated_at,
        last_message_at::timestamptz AS last_message_at
    FROM conversations;
    CREATE OR REPLACE VIEW public.conversation_messages WITH (security_invoker = true) AS SELECT
        as_uuid(m.id) AS id, as_uuid(c.id) AS conversation_id, m.type::varchar(20) AS type, m.content,
        m.metadata::jsonb AS metadata, m.created_at::timestamptz AS created_at
    FROM conversations c JOIN messages m ON m.conversation = c.id;
    CREATE OR REPLACE VIEW public.agent_tasks WITH (security_invoker = true) AS SELECT
        o.id, as_uuid(o.user_id) AS user_id, as_uuid(t.assigned_agent) AS assigned_to,
        as_uuid(o.user_id) AS created_by, t.title::varchar(200) AS title, t.description,
        (CASE t.status WHEN 'pending' THEN 'todo' WHEN 'active' THEN 'doing' WHEN 'blocked' THEN 'paused'
            ELSE t.status END)::varchar(20) AS status,
        (CASE t.priority WHEN 'critical' THEN 'urgent' ELSE t.priority END)::varchar(10) AS priority,
        t.due::timestamptz AS due_date,
        (CASE WHEN t.estimate < 999.99 THEN t.estimate END)::numeric(5, 2) AS estimated_hours,
        (SELECT coalesce(jsonb_agg(l.label ORDER BY l.position), '[]') FROM task_labels l
            WHERE l.task = t.number) AS tags,
        t.feature::varchar(100) AS feature, t.created_at::timestamptz AS created_at,
        t.updated_at::timestamptz AS updated_at, t.started_at::timestamptz AS started_at,
        t.completed_at::timestamptz AS completed_at
    FROM task_owners o JOIN tasks t ON t.number = o.task;
    FOR view IN SELECT * FROM (VALUES
        ('agents', 'write_agent', 'model = ''gpt-4o-mini'', temperature = 0.7, max_tokens = 4000, color = ''#6B7280'',
            icon = ''robot'', tags = ''[]'', tools = ''[]'', status = ''active'', is_runtime = false,
            created_at = now(), updated_at = now()'),
        ('agent_executions', 'write_execution', 'status = ''pending'', routing_score = 0, token_usage = ''{}'',
            started_at = now()'),
        ('agent_conversations', 'write_conversation', 'status = ''active'', created_at = now(), updated_at = now(),
            last_message_at = now()'),
        ('conversation_messages', 'write_message', 'metadata = ''{}'', created_at = now()'),
        ('agent_tasks', 'write_task', 'status = ''todo'', priority = ''medium'', tags = ''[]'', created_at = now(),
            updated_at = now()')
    ) AS views (name, writer, defaults) LOOP
        FOREACH name IN ARRAY regexp_split_to_array('id = gen_random_uuid(), ' || view.defaults, ',\s+') LOOP
            EXECUTE format('ALTER VIEW public.%I ALTER %I SET DEFAULT %s', view.name, split_part(name, ' = ', 1),
                split_part(name, ' = ', 2));
        END LOOP;
        EXECUTE format('CREATE OR REPLACE TRIGGER %1$I INSTEAD OF INSERT OR UPDATE OR DELETE ON public.%2$I
            FOR EACH ROW EXECUTE FUNCTION %1$I()', view.writer, view.name);
    END LOOP;

    EXECUTE format($sql$
        CREATE OR REPLACE FUNCTION public.get_agents_with_metrics(p_user_id UUID)
        RETURNS TABLE (agent_id UUID, name VARCHAR, description TEXT, role VARCHAR, status VARCHAR,
            execution_count BIGINT, avg_execution_time NUMERIC, last_used TIMESTAMPTZ)
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = %1$s, pg_temp AS $f$
        DECLARE own_name CONSTANT text := require_user(p_user_id, 'Access denied');
        BEGIN
            RETURN QUERY SELECT as_uuid(a.id), (a.record ->> 'name')::varchar, a.record ->> 'description',
                (a.record ->> 'role')::varchar, (a.record ->> 'status')::varchar, count(e.id),
                avg(e.execution_time_ms), max(e.started_at)::timestamptz
            FROM agents a LEFT JOIN runs e ON e.agent = a.id AND e.user_id = own_name AND e.kind = 'execution'
            WHERE a.user_id = own_name AND a.record ->> 'status' = 'active'
            GROUP BY a.id ORDER BY 8 DESC NULLS LAST;
        END $f$;

        -- The latest messages, in the order in which they were said.
        CREATE OR REPLACE FUNCTION public.get_conversation_with_messages(p_conversation_id UUID, p_user_id UUID,
            p_limit INTEGER DEFAULT 50)
        RETURNS TABLE (conversation_id UUID, conversation_title VARCHAR, message_id UUID, message_type VARCHAR,
            content TEXT, created_at TIMESTAMPTZ)
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = %1$s, pg_temp AS $f$
        DECLARE
            denied CONSTANT text := 'Access denied or conversation not found';
            own_name CONSTANT text := require_user(p_user_id, denied);
            found record;
        BEGIN
            SELECT c.id, c.record INTO found FROM conversations c
                WHERE c.user_id = own_name AND as_uuid(c.id) = p_conversation_id;
            IF found.id IS NULL THEN
                RAISE EXCEPTION '%%', denied;
            END IF;
            RETURN QUERY SELECT p_conversation_id, (found.record ->> 'title')::varchar, as_uuid(m.id),
                m.type::varchar, m.content, m.created_at::timestamptz
            FROM (SELECT * FROM messages s WHERE s.conversation = found.id ORDER BY s.position DESC LIMIT p_limit) AS m
            ORDER BY m.position;
        END $f$;
    $sql$, quote_ident(current_schema()));
    -- Readers of a view read its tables, which they cannot name without a right on the schema.
    FOR name IN SELECT rolname FROM pg_roles WHERE rolname IN ('cleo_user', 'authenticated', 'service_role') LOOP
        EXECUTE format('GRANT SELECT ON agents, runs, conversations, messages, tasks, task_owners, task_labels
            TO %I', name);
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON public.agents, public.agent_executions,
            public.agent_conversations, public.conversation_messages, public.agent_tasks TO %I', name);
    END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'the views of the agents system are not made: %', SQLERRM;
END $$;

-- The helpers are for this schema only: no login calls them directly.
DO $$
DECLARE name regprocedure;
BEGIN
    FOR name IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
            AND proname IN ('require_user', 'require_agent', 'remove_conversations', 'remove_runs', 'change_task',
                'log_change', 'write_labels', 'refresh_nodes', 'add_to_counter', 'refuse_move', 'task_json') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', name);
    END LOOP;
END $$;

-- Who is deleted on Supabase loses agents, executions and conversations; tasks belong to the workspace.
CREATE OR REPLACE FUNCTION forget_user() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM begin_writing(),
        remove_conversations((SELECT array_agg(id) FROM conversations WHERE user_id = OLD.id::text)),
        remove_runs((SELECT array_agg(id) FROM runs WHERE user_id = OLD.id::text));
    DELETE FROM agents WHERE user_id = OLD.id::text;
    RETURN NULL;
END $$;
DO $$ BEGIN
    IF to_regclass('auth.users') IS NOT NULL THEN
        CREATE OR REPLACE TRIGGER cleo_forget_user AFTER DELETE ON auth.users FOR EACH ROW
            EXECUTE FUNCTION forget_user();
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'users who are deleted keep their rows: %', SQLERRM;
END $$;
