//! Records that are only found by their key: what the chat works on and remembers. All statements are constant; values
//! from messages are bound parameters.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::SqlTransaction;
use super::columns::{from_json, json, refuse_deep, require_unchanged, unchanged};
use super::row::Row;
use crate::chat::Chat;
use crate::chat::record::{
    Answer, Answered, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::error::Result;
use crate::store::records::{Chats, Components};

const CLIENT: &str = "client";
const DESIGN: &str = "design";
const COMPONENT: &str = "component";
/// The greatest number of a removed component of a client: no other component gets it.
const REMOVED: &str = "removed component";
const GROUP: &str = "security group";
const GUARD: &str = "guard";
const QUESTION: &str = "question";
const ANSWER: &str = "answer";
const MEDIA: &str = "media";
const CHAT: &str = "chat";

/// Records that name one that is not there, and security groups of one title.
const FAULTS: &str = "
    WITH guards AS (SELECT owner, record ->> 'component_id' AS component,
        record ->> 'security_group_id' AS id FROM records WHERE kind = 'guard' AND json_valid(record))
    SELECT trim(kind || ' ' || id) || ' belongs to client ' || owner || ', who is not there'
        FROM records WHERE kind IN ('media', 'design', 'component', 'security group', 'answer')
            AND owner NOT IN (SELECT owner FROM records WHERE kind = 'client')
    UNION ALL SELECT 'security group ' || id || ' on component ' || component || ' of client ' || owner
        || ': one of them is not there'
        FROM guards WHERE ('component', owner, component) NOT IN (SELECT kind, owner, id FROM records)
            OR ('security group', owner, id) NOT IN (SELECT kind, owner, id FROM records)
    UNION ALL SELECT 'security group ' || min(id) || ' of client ' || owner || ' has the title of another'
        FROM records WHERE kind = 'security group' AND json_valid(record)
        GROUP BY owner, lower(record ->> 'security_group_title') HAVING count(*) > 1
    LIMIT 1";

/// Names a record; no other has the same name.
pub(in crate::store) const NAME: &str = "kind || ' ' || owner || ' ' || id";

/// The columns that are read of a record; the first is the name of a damaged one.
pub(in crate::store) const COLUMNS: &str = unchanged!(
    "kind || ' ' || owner || ' ' || id AS id, record, kind, records.id",
    "kind, owner, records.id, record"
);

/// Returns the beginning of queries for records.
fn select_records() -> String {
    format!("SELECT {COLUMNS} FROM records WHERE kind = ?1")
}

/// Reads a record of any kind, to see whether it can be read.
pub(in crate::store) fn read(row: &Row<'_>) -> rusqlite::Result<()> {
    fn check_record<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<()> {
        read_record::<T>(row).map(drop)
    }
    match row.get_ref(2)?.as_str()? {
        CLIENT => check_record::<Client>(row),
        DESIGN => check_record::<Design>(row),
        COMPONENT => check_record::<Component>(row),
        GROUP => check_record::<SecurityGroup>(row),
        GUARD => check_record::<Guard>(row),
        QUESTION => check_record::<Question>(row),
        ANSWER => check_record::<Answer>(row),
        MEDIA => check_record::<Media>(row),
        CHAT => check_record::<Chat>(row),
        REMOVED => check_record::<i64>(row),
        _ => check_record::<String>(row),
    }
}

pub(in crate::store) fn read_record<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    require_unchanged(row, 4)?;
    from_json(row, 1)
}

/// The kind of a record, its owner and its id among those of both.
type Key<'a> = (&'static str, &'a str, &'a str);

impl SqlTransaction<'_> {
    fn read_record<T: DeserializeOwned>(&self, key: Key<'_>) -> Result<Option<T>> {
        let sql = format!("{} AND owner = ?2 AND records.id = ?3", select_records());
        self.first(&sql, key, read_record)
    }

    /// Reads the records of a kind and an owner, by the number that their id is.
    fn records<T: DeserializeOwned>(&self, kind: &str, owner: &str) -> Result<Vec<T>> {
        let order = "ORDER BY length(records.id), records.id";
        let sql = format!("{} AND owner = ?2 {order}", select_records());
        self.all(&sql, (kind, owner), read_record)
    }

    pub(in crate::store) fn put_record(&self, key: Key<'_>, record: &impl Serialize) -> Result<()> {
        let record = json(record);
        refuse_deep(&record)?;
        let (kind, owner, id) = key;
        let sql = "INSERT INTO records VALUES (?1, ?2, ?3, ?4, checksum(?1, ?2, ?3, ?4))
            ON CONFLICT (kind, owner, id) DO UPDATE SET record = excluded.record, sum = excluded.sum";
        self.execute(sql, (kind, owner, id, record))
    }

    fn remove_record(&self, key: Key<'_>) -> Result<bool> {
        let sql = "DELETE FROM records WHERE kind = ?1 AND owner = ?2 AND id = ?3";
        Ok(self.execute_counting(sql, key)? > 0)
    }
}

fn guard_id(guard: &Guard) -> String {
    format!("{} {}", guard.component_id, guard.security_group_id)
}

impl Components for SqlTransaction<'_> {
    fn client(&self, client: &str) -> Result<Option<Client>> {
        self.read_record((CLIENT, client, ""))
    }

    fn design(&self, client: &str) -> Result<Option<Design>> {
        self.read_record((DESIGN, client, ""))
    }

    fn components(&self, client: &str) -> Result<Vec<Component>> {
        let mut components: Vec<Component> = self.records(COMPONENT, client)?;
        components.sort_by_key(|component| component.display_order);
        Ok(components)
    }

    fn component(&self, client: &str, id: &str) -> Result<Option<Component>> {
        self.read_record((COMPONENT, client, id))
    }

    fn last_removed(&self, client: &str) -> Result<Option<i64>> {
        self.read_record((REMOVED, client, ""))
    }

    fn security_groups(&self, client: &str) -> Result<Vec<SecurityGroup>> {
        self.records(GROUP, client)
    }

    fn security_groups_of(&self, client: &str, component: &str) -> Result<Vec<String>> {
        let guards: Vec<Guard> = self.records(GUARD, client)?;
        let guards = guards.into_iter();
        let guards = guards.filter(|guard| guard.component_id == component);
        Ok(guards.map(|guard| guard.security_group_id).collect())
    }

    fn list_answered(&self, client: &str) -> Result<Vec<Answered>> {
        let Some(Client { client_type, .. }) = self.client(client)? else {
            return Ok(Vec::new());
        };
        let mut answered = Vec::new();
        for answer in self.records::<Answer>(ANSWER, client)? {
            let question: Option<Question> =
                self.read_record((QUESTION, "", &answer.question_id))?;
            let question = question.filter(|question| question.client_type == client_type);
            answered.extend(question.map(|question| Answered {
                question: question.question_text,
                chosen_options: answer.chosen_options,
            }));
        }
        Ok(answered)
    }

    fn media(&self, client: &str, library: &str) -> Result<Option<Media>> {
        self.read_record((MEDIA, client, library))
    }

    fn put_client(&mut self, client: &Client) -> Result<()> {
        self.put_record((CLIENT, &client.client_id, ""), client)
    }

    fn put_design(&mut self, design: &Design) -> Result<()> {
        self.put_record((DESIGN, &design.client_id, ""), design)
    }

    fn put_component(&mut self, component: &Component) -> Result<()> {
        let key = (COMPONENT, &*component.client_id, &*component.component_id);
        self.put_record(key, component)
    }

    fn remove_component(&mut self, client: &str, id: &str) -> Result<bool> {
        for group in self.security_groups_of(client, id)? {
            self.remove_record((GUARD, client, &format!("{id} {group}")))?;
        }
        let is_gone = self.remove_record((COMPONENT, client, id))?;
        if is_gone {
            let last = self.last_removed(client)?.max(id.parse().ok());
            self.put_record((REMOVED, client, ""), &last)?;
        }
        Ok(is_gone)
    }

    fn put_security_group(&mut self, group: &SecurityGroup) -> Result<()> {
        let key = (GROUP, &*group.client_id, &*group.security_group_id);
        self.put_record(key, group)
    }

    fn put_guard(&mut self, guard: &Guard) -> Result<()> {
        self.put_record((GUARD, &guard.client_id, &guard_id(guard)), guard)
    }

    fn remove_guard(&mut self, guard: &Guard) -> Result<bool> {
        self.remove_record((GUARD, &guard.client_id, &guard_id(guard)))
    }

    fn put_question(&mut self, question: &Question) -> Result<()> {
        self.put_record((QUESTION, "", &question.question_id), question)
    }

    fn put_answer(&mut self, answer: &Answer) -> Result<()> {
        self.put_record((ANSWER, &answer.client_id, &answer.question_id), answer)
    }

    fn put_media(&mut self, media: &Media) -> Result<()> {
        self.put_record((MEDIA, &media.client_id, &media.library_id), media)
    }

    fn find_fault(&self) -> Result<Option<String>> {
        self.first(FAULTS, (), |row| row.get(0))
    }
}

impl Chats for SqlTransaction<'_> {
    fn chat(&self, conversation: &str) -> Result<Chat> {
        let sql = format!("{} AND owner = '' AND records.id = ?2", select_records());
        let remembered = self.all(&sql, (CHAT, conversation), read_record)?;
        Ok(remembered.into_iter().next().unwrap_or_default())
    }

    fn put_chat(&mut self, conversation: &str, chat: &Chat) -> Result<()> {
        self.put_record((CHAT, "", conversation), chat)
    }
}
