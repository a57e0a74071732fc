-- Version 3: executions that asked back which agent is meant, by user. Metrics tell them from those that
-- no agent fits, without reading all runs.
CREATE INDEX runs_asked_back ON runs (user_id)
    WHERE kind = 'execution' AND status = 'completed' AND agent IS NULL AND answered_by IS NULL;
