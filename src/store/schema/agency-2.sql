-- Version 2: executions that somebody else answered, since their agent failed. Metrics count them as
-- failures of that agent, without reading all runs.
CREATE INDEX runs_stood_in ON runs (user_id, agent)
    WHERE kind = 'execution' AND status = 'completed' AND error IS NOT NULL;
