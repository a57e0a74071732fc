//! From points to a decision, with the reasons.

use serde::Serialize;

use super::index::{Index, Tag};
use super::scoring::{Points, Reading, Standing};
use super::{FINALIZE, Request, TAG_BOOST};
use crate::agent::{AgentStatus, Role, SUPERVISOR};
use crate::score::normalize;

/// Longest id that a reason repeats, in characters.
const ID_MAX: usize = 64;

impl Index {
    /// Decides which agent gets a message. The same message and the same agents give the same decision.
    pub(crate) fn route<'a>(&'a self, request: &Request<'a>) -> Decision<'a> {
        let reading = self.read(request.message, request.by);
        let points = self.points(&reading);
        let leaders = self.best(&points, 2, true);
        let requested = request.agent.and_then(|id| self.position(id));
        let requested = requested.filter(|place| self.candidates[*place]);
        let requested = requested.map(|place| Standing {
            score: points[place].score,
            place,
        });
        let chosen = requested.or(leaders.first().copied());
        let mut others = leaders
            .iter()
            .filter(|one| Some(one.place) != chosen.map(|it| it.place));
        let runner_up = others.next();
        let best = points.iter().map(|one| one.score).max().unwrap_or(0);
        let (agent, score) = chosen.map_or((FINALIZE, best), |it| (self.id(&it), it.score));
        let (decided, reason) = match (requested, chosen) {
            (Some(_), _) => {
                let reason = format!("{agent} was requested; its score is {score}");
                (Decided::Requested, reason)
            }
            (None, Some(_)) => {
                let mut reason = format!("Best match with score {score}");
                let is_equal = |one: &&Points| one.may_decide && one.score == score;
                let equals = points.iter().filter(is_equal).count();
                if equals > 1 {
                    reason += &format!(" (the first of {equals} agents with this score)");
                }
                (
                    Decided::Matched,
                    reason + &self.explain_absence(request.agent),
                )
            }
            (None, None) => {
                let mut reason = format!("No suitable agent found (best score: {best})");
                if request.message.terms().len() == 0 {
                    reason += ": the message has no word of three characters or more";
                } else if best > 0 {
                    reason += ": the words that match say nothing";
                }
                (
                    Decided::Finalize,
                    reason + &self.explain_absence(request.agent),
                )
            }
        };
        let lead = score.saturating_sub(runner_up.map_or(0, |it| it.score));
        Decision {
            agent,
            decided,
            score,
            reason,
            margin: (decided != Decided::Requested).then_some(lead),
            runner_up: runner_up.map(|it| RunnerUp {
                id: self.id(it),
                score: it.score,
            }),
            terms: request.message.terms().collect(),
            candidates: request.explain.map(|limit| {
                let best = self.best(&points, limit, false).into_iter();
                best.map(|one| self.candidate(one, &reading, request))
                    .collect()
            }),
            total: self.candidates(),
        }
    }

    /// Explains why a requested agent is not available, or returns nothing. A request for a supervisor needs no reason: it
    /// delegates every message.
    fn explain_absence(&self, requested: Option<&str>) -> String {
        let Some(id) = requested else {
            return String::new();
        };
        let why = match self.agent(id) {
            Some(agent) if agent.role == Role::Supervisor => return String::new(),
            Some(agent) if agent.status != AgentStatus::Active => agent.status.word(),
            _ => "unknown",
        };
        let shown: String = id.chars().take(ID_MAX).collect();
        format!("; the requested agent `{shown}` was not available ({why})")
    }

    fn id(&self, one: &Standing) -> &str {
        &self.agents[one.place].id
    }

    /// Lists the words and tags of a message that a candidate has.
    fn candidate<'a>(
        &'a self,
        one: Standing,
        reading: &Reading<'_>,
        request: &Request<'a>,
    ) -> Candidate<'a> {
        let (agent, words) = (&self.agents[one.place], &self.words_of[one.place]);
        let has = |word: &usize| words.binary_search(word).is_ok();
        let terms = reading.terms.iter().filter(|(_, word)| has(word));
        let mut terms: Vec<usize> = terms.map(|(term, _)| *term).collect();
        terms.dedup();
        let terms = terms.iter().map(|term| request.message.term(*term));
        let matched_terms: Vec<&str> = terms.collect();
        let tags = agent.tags.iter().filter(|tag| self.names(reading, tag));
        let matched_tags: Vec<&str> = tags.map(String::as_str).collect();
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let candidate = Candidate {
            id: &agent.id,
            score: one.score,
            base: count(matched_terms.len()),
            tag_boost: TAG_BOOST * count(matched_tags.len()),
            matched_terms,
            matched_tags,
        };
        debug_assert_eq!(candidate.score, candidate.base + candidate.tag_boost);
        candidate
    }

    /// Returns whether a message names a tag of an agent.
    fn names(&self, reading: &Reading<'_>, tag: &str) -> bool {
        let is_named = |word| reading.words.binary_search(&word).is_ok();
        match Tag::parse(&normalize(tag)) {
            Tag::Word(word) => self.word_number(word).is_some_and(is_named),
            Tag::Phrase(words) => {
                let words = words.iter().map(|word| self.word_number(word));
                let words: Option<Vec<usize>> = words.collect();
                words.is_some_and(|words| reading.phrases.contains(&&words[..]))
            }
            Tag::Literal => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decided {
    Matched,
    /// By the caller.
    Requested,
    Finalize,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decision<'a> {
    /// Id of the agent; `finalize` when none fits.
    pub(crate) agent: &'a str,
    pub(crate) decided: Decided,
    /// Score of the agent; the best score when there is none.
    pub(crate) score: u32,
    pub(crate) reason: String,
    /// Lead over the runner-up, or over nothing; none for an agent that was asked for.
    pub(crate) margin: Option<u32>,
    /// The best of the others, if it has points.
    pub(crate) runner_up: Option<RunnerUp<'a>>,
    /// The distinct words of the message that count, normalized.
    pub(crate) terms: Vec<&'a str>,
    /// Candidates with the parts of their scores, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) candidates: Option<Vec<Candidate<'a>>>,
    pub(crate) total: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct RunnerUp<'a> {
    pub(crate) id: &'a str,
    pub(crate) score: u32,
}

/// An agent that could have been chosen, with the parts of its score, which add up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate<'a> {
    pub(crate) id: &'a str,
    /// `base` and `tagBoost` together.
    pub(crate) score: u32,
    /// One for each of `matchedTerms`.
    pub(crate) base: u32,
    /// Two for each of `matchedTags`.
    pub(crate) tag_boost: u32,
    /// Words of the message that the agent has.
    pub(crate) matched_terms: Vec<&'a str>,
    /// Tags that the message names, as they are written in the agent.
    pub(crate) matched_tags: Vec<&'a str>,
}

/// The event of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Delegation<'a> {
    /// The supervisor.
    pub(crate) from: &'static str,
    /// The agent, or `finalize`.
    pub(crate) to: &'a str,
    pub(crate) reason: String,
    pub(crate) query: &'a str,
    /// When, RFC 3339 in UTC.
    pub(crate) timestamp: String,
}

impl<'a> Decision<'a> {
    pub(crate) fn is_agent(&self) -> bool {
        matches!(self.decided, Decided::Matched | Decided::Requested)
    }

    /// Makes the event of this decision. Every decision has one.
    pub(crate) fn delegation(&self, query: &'a str, timestamp: String) -> Delegation<'a> {
        Delegation {
            from: SUPERVISOR,
            to: self.agent,
            reason: self.reason.clone(),
            query,
            timestamp,
        }
    }
}
