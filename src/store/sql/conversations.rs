//! SQL of conversations and messages.

use rusqlite::types::Value;

use super::SqlTransaction;
use super::columns::{
    all_of, from_json, json, next, read_checked_id, refuse_deep, require_unchanged, to_signed,
    to_unsigned, unchanged, word,
};
use super::row::Row;
use crate::error::Result;
use crate::run::{Conversation, Message, is_id};
use crate::score::normalize;
use crate::store::records::{ConversationFilter, ConversationPage, Conversations};

pub(in crate::store) const COLUMNS: &str = unchanged!(
    "id, record",
    "id, user_id, agent, status, last_message_at, record"
);
pub(in crate::store) const MESSAGE: &str =
    unchanged!("id, conversation, run, type, content, metadata, created_at");

const PUT: &str = concat!(
    "INSERT INTO conversations VALUES (",
    next!("conversations", "position"),
    ", ?1, ?2, ?3, ?4, ?5, ?6,
        checksum(?1, ?2, ?3, ?4, ?5, ?6))
    ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, agent = excluded.agent,
        status = excluded.status, last_message_at = excluded.last_message_at,
        record = excluded.record, sum = excluded.sum"
);

impl Conversations for SqlTransaction<'_> {
    fn put_conversation(&mut self, one: &Conversation) -> Result<()> {
        let (status, record) = (one.status.word(), json(one));
        self.execute(
            PUT,
            (
                &one.id,
                &one.user_id,
                &one.agent_id,
                status,
                &one.last_message_at,
                record,
            ),
        )?;
        Ok(())
    }

    fn conversation(&self, id: &str) -> Result<Option<Conversation>> {
        let sql = format!("SELECT {COLUMNS} FROM conversations WHERE id = ?1");
        self.first(&sql, [id], read)
    }

    fn conversations(
        &self,
        user: Option<&str>,
        filter: &ConversationFilter,
    ) -> Result<ConversationPage> {
        let (condition, mut values) = all_of([
            ("user_id = ?", user.map(String::from)),
            ("agent = ?", filter.agent.clone()),
            ("status = ?", filter.status.map(|one| one.word().into())),
            (
                "instr(normalized(CASE WHEN json_valid(record) THEN record ->> 'title' END), ?) > 0",
                Some(normalize(filter.words.trim())).filter(|words| !words.is_empty()),
            ),
        ]);
        let sql = format!("SELECT count(*) FROM conversations WHERE {condition}");
        let total = self.count(&sql, &values)?;
        values.push(Value::from(filter.limit));
        let sql = format!(
            "SELECT {COLUMNS} FROM conversations WHERE {condition}
             ORDER BY last_message_at DESC, position DESC LIMIT ?"
        );
        Ok(ConversationPage {
            conversations: self.all(&sql, values, read)?,
            total,
        })
    }

    fn add_message(&mut self, message: &Message) -> Result<()> {
        let sql = concat!(
            "INSERT INTO messages VALUES (",
            next!("messages", "position"),
            ", ?1, ?2, ?3, ?4, ?5, ?6, ?7,
                       checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7))"
        );
        let metadata = serde_json::json!(message.metadata).to_string();
        refuse_deep(&metadata)?;
        self.execute(
            sql,
            (
                &message.id,
                &message.conversation,
                &message.run,
                message.speaker.word(),
                &message.content,
                metadata,
                &message.created_at,
            ),
        )?;
        Ok(())
    }

    fn messages(
        &self,
        conversation: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Option<Vec<Message>>> {
        let sql = "SELECT position FROM messages WHERE id = ?1 AND conversation = ?2";
        let place = |id| self.first(sql, [id, conversation], |row| row.get::<i64>(0));
        let Some(place) = before.map_or(Ok(Some(i64::MAX)), place)? else {
            return Ok(None);
        };
        let sql = format!(
            "SELECT {MESSAGE} FROM messages WHERE conversation = ?1 AND position < ?2
             ORDER BY position DESC LIMIT ?3"
        );
        let mut said = self.all(&sql, (conversation, place, limit), read_message)?;
        said.reverse();
        Ok(Some(said))
    }

    fn messages_after(&self, cursor: u64, limit: u32) -> Result<Vec<(u64, Message)>> {
        let sql = format!(
            "SELECT {MESSAGE}, position FROM messages
             WHERE position > ?1 AND conversation IS NOT NULL ORDER BY position LIMIT ?2"
        );
        self.all(&sql, (to_signed(cursor), limit), |row| {
            Ok((to_unsigned(row, 8)?, read_message(row)?))
        })
    }

    fn last_said(&self) -> Result<u64> {
        self.count("SELECT max(position) FROM messages", ())
    }

    fn message_count(&self, conversation: &str) -> Result<u64> {
        let sql = "SELECT count(*) FROM messages WHERE conversation = ?1";
        self.count(sql, [conversation])
    }

    fn run_messages(&self, run: &str) -> Result<Vec<Message>> {
        let sql = format!("SELECT {MESSAGE} FROM messages WHERE run = ?1 ORDER BY position");
        self.all(&sql, [run], read_message)
    }
}

/// Reads a conversation; its column counts where the record has another id.
pub(in crate::store) fn read(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    require_unchanged(row, 2)?;
    Ok(Conversation {
        id: read_checked_id(row, 0, is_id)?,
        ..from_json(row, 1)?
    })
}

pub(in crate::store) fn read_message(row: &Row<'_>) -> rusqlite::Result<Message> {
    require_unchanged(row, 7)?;
    Ok(Message {
        id: row.get(0)?,
        conversation: row.get(1)?,
        run: row.get(2)?,
        speaker: word(row, 3)?,
        content: row.get(4)?,
        metadata: from_json(row, 5)?,
        created_at: row.get(6)?,
    })
}
