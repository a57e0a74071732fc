-- Functions that statements of both databases call, the index of words, and tokens of writes.
CREATE FUNCTION instr(whole text, part text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN strpos(whole, part);

CREATE FUNCTION json_valid(value json) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value IS NOT NULL;

-- Lower case, decomposed, without accents: as `score::normalize`.
CREATE FUNCTION normalized(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN regexp_replace(normalize(lower(value COLLATE COLLATION), NFD), '[\u0300-\u036f]', '', 'g');

-- ASCII signs part words, as in the index of SQLite.
CREATE FUNCTION word_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN regexp_replace(normalized(value),
        '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g');

-- A text search vector has at most a megabyte.
CREATE FUNCTION words(title text, description text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN setweight(to_tsvector('simple', word_text(title)), 'A')
        || setweight(to_tsvector('simple', word_text("left"(description, 200000))), 'D');

-- A token of each of the last writes: by it, a client whose connection was lost knows whether its write was committed.
CREATE TABLE commits (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token UUID NOT NULL UNIQUE DEFAULT gen_random_uuid()
);

-- When processes that carry out runs were last there.
CREATE TABLE presence (
    owner TEXT COLLATE "C" PRIMARY KEY,
    seen TIMESTAMPTZ NOT NULL
);

CREATE INDEX tasks_by_words ON tasks USING gin (words(title, description));
