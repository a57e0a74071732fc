//! SQL of the chat. All statements are constant; values from messages are bound parameters.

use rusqlite::Params;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::chat::Chat;
use crate::chat::record::{
    Answer, Answered, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::error::{Code, Error, Result};
use crate::store::agency::{Chats, Components};
use crate::store::sqlite::columns::{from_json, refuse_deep};
use crate::store::sqlite::open::Open;

/// Rows that name one that is not there, or that do not fit to another.
const FAULTS: &str = "
    SELECT 'client ' || client_id || ' has no client_type' FROM clients WHERE trim(client_type) = ''
    UNION ALL SELECT what || ' belongs to client ' || client_id || ', who is not there' FROM (
        SELECT client_id, 'media ' || library_id AS what FROM media_library
        UNION ALL SELECT client_id, 'a design' FROM designs
        UNION ALL SELECT client_id, 'component ' || component_id FROM components
        UNION ALL SELECT client_id, 'security group ' || security_group_id FROM security_groups
        UNION ALL SELECT client_id, 'the answer to question ' || question_id FROM answers
    ) WHERE client_id NOT IN (SELECT client_id FROM clients)
    UNION ALL SELECT 'the design of client ' || client_id || ' names media ' || value
        || ', which is not there'
        FROM designs, json_each(designs.record)
        WHERE key IN ('banner_library_id', 'background_library_id') AND value IS NOT NULL
            AND (client_id, value) NOT IN (SELECT client_id, library_id FROM media_library)
    UNION ALL SELECT 'security group ' || security_group_id || ' on component ' || component_id
        || ' of client ' || client_id || ': there is no such '
        || iif(record IS NULL, 'component', 'security group')
        FROM component_security_groups LEFT JOIN components USING (client_id, component_id)
        LEFT JOIN security_groups USING (client_id, security_group_id)
        WHERE record IS NULL OR security_group_title IS NULL
    UNION ALL SELECT 'security group ' || security_group_id || ' of client ' || client_id
        || iif(trim(security_group_title) = '', ' has no title', ' has the title of another')
        FROM security_groups GROUP BY client_id, lower(security_group_title)
        HAVING count(*) > 1 OR trim(security_group_title) = ''
    UNION ALL SELECT 'the answer of client ' || client_id || ' to question ' || question_id || ': '
        || iif(question_text IS NULL, 'there is no such question', 'clients of another type than `'
            || questions.client_type || '` are not asked it')
        FROM answers JOIN clients USING (client_id) LEFT JOIN questions USING (question_id)
        WHERE questions.client_type IS NOT clients.client_type
    UNION ALL SELECT 'the answer of client ' || client_id || ' to question ' || question_id || ' is `'
        || value || '`, which cannot be chosen'
        FROM answers JOIN questions USING (question_id), json_each(chosen_options)
        WHERE json_array_length(options) > 0 AND value NOT IN (SELECT value FROM json_each(options))
    LIMIT 1";

impl Open<'_> {
    fn records<T: DeserializeOwned>(&self, sql: &str, parameters: impl Params) -> Result<Vec<T>> {
        self.all(sql, parameters, |row| from_json(row, 0))
    }

    fn record<T: DeserializeOwned>(&self, sql: &str, parameters: impl Params) -> Result<Option<T>> {
        self.first(sql, parameters, |row| from_json(row, 0))
    }
}

fn json<T: Serialize>(record: &T) -> Result<String> {
    let json = serde_json::to_string(record)
        .map_err(|cause| Error::new(Code::Internal, "a record cannot be written").because(cause))?;
    refuse_deep(&json).map(|()| json)
}

impl Components for Open<'_> {
    fn client(&self, client: &str) -> Result<Option<Client>> {
        let sql = "SELECT client_id, client_type FROM clients WHERE client_id = ?1";
        self.first(sql, [client], |row| {
            Ok(Client {
                client_id: row.get(0)?,
                client_type: row.get(1)?,
            })
        })
    }

    fn design(&self, client: &str) -> Result<Option<Design>> {
        self.record("SELECT record FROM designs WHERE client_id = ?1", [client])
    }

    fn components(&self, client: &str) -> Result<Vec<Component>> {
        self.records(
            "SELECT record FROM components WHERE client_id = ?1
                ORDER BY display_order, length(component_id), component_id",
            [client],
        )
    }

    fn component(&self, client: &str, id: &str) -> Result<Option<Component>> {
        let sql = "SELECT record FROM components WHERE client_id = ?1 AND component_id = ?2";
        self.record(sql, [client, id])
    }

    fn last_removed(&self, client: &str) -> Result<Option<i64>> {
        let sql = "SELECT component_id FROM removed_components WHERE client_id = ?1";
        self.first(sql, [client], |row| row.get(0))
    }

    fn security_groups(&self, client: &str) -> Result<Vec<SecurityGroup>> {
        let sql = "SELECT security_group_id, client_id, security_group_title FROM security_groups
            WHERE client_id = ?1 ORDER BY length(security_group_id), security_group_id";
        self.all(sql, [client], |row| {
            Ok(SecurityGroup {
                security_group_id: row.get(0)?,
                client_id: row.get(1)?,
                security_group_title: row.get(2)?,
            })
        })
    }

    fn guards(&self, client: &str, component: &str) -> Result<Vec<String>> {
        let sql = "SELECT security_group_id FROM component_security_groups
            WHERE client_id = ?1 AND component_id = ?2
            ORDER BY length(security_group_id), security_group_id";
        self.all(sql, [client, component], |row| row.get(0))
    }

    fn answers(&self, client: &str) -> Result<Vec<Answered>> {
        let sql = "SELECT question_text, chosen_options FROM clients
            JOIN questions USING (client_type) JOIN answers USING (client_id, question_id)
            WHERE client_id = ?1 ORDER BY length(question_id), question_id";
        self.all(sql, [client], |row| {
            Ok(Answered {
                question: row.get(0)?,
                chosen_options: from_json(row, 1)?,
            })
        })
    }

    fn media(&self, client: &str, library: &str) -> Result<Option<Media>> {
        let sql = "SELECT library_id, client_id, s3_key FROM media_library
            WHERE client_id = ?1 AND library_id = ?2";
        self.first(sql, [client, library], |row| {
            Ok(Media {
                library_id: row.get(0)?,
                client_id: row.get(1)?,
                s3_key: row.get(2)?,
            })
        })
    }

    fn put_client(&mut self, client: &Client) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO clients VALUES (?1, ?2)";
        self.execute(sql, (&client.client_id, &client.client_type))?;
        Ok(())
    }

    fn put_design(&mut self, design: &Design) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO designs VALUES (?1, ?2)";
        self.execute(sql, (&design.client_id, json(design)?))?;
        Ok(())
    }

    fn put_component(&mut self, component: &Component) -> Result<()> {
        let Component {
            client_id,
            component_id,
            display_order,
            ..
        } = component;
        let sql = "INSERT OR REPLACE INTO components VALUES (?1, ?2, ?3, ?4)";
        let record = json(component)?;
        self.execute(sql, (client_id, component_id, display_order, record))?;
        Ok(())
    }

    fn remove_component(&mut self, client: &str, id: &str) -> Result<bool> {
        let guards =
            "DELETE FROM component_security_groups WHERE client_id = ?1 AND component_id = ?2";
        self.execute(guards, [client, id])?;
        let sql = "DELETE FROM components WHERE client_id = ?1 AND component_id = ?2";
        let is_gone = self.execute(sql, [client, id])? > 0;
        if is_gone {
            let last = "INSERT INTO removed_components VALUES (?1, CAST(?2 AS INTEGER))
                ON CONFLICT DO UPDATE SET component_id = max(component_id, excluded.component_id)";
            self.execute(last, [client, id])?;
        }
        Ok(is_gone)
    }

    fn put_security_group(&mut self, group: &SecurityGroup) -> Result<()> {
        let (client, id) = (&group.client_id, &group.security_group_id);
        let sql = "INSERT OR REPLACE INTO security_groups VALUES (?1, ?2, ?3)";
        self.execute(sql, (client, id, &group.security_group_title))?;
        Ok(())
    }

    fn put_guard(&mut self, guard: &Guard) -> Result<()> {
        let (component, group) = (&guard.component_id, &guard.security_group_id);
        let sql = "INSERT OR REPLACE INTO component_security_groups VALUES (?1, ?2, ?3)";
        self.execute(sql, (&guard.client_id, component, group))?;
        Ok(())
    }

    fn remove_guard(&mut self, guard: &Guard) -> Result<bool> {
        let (component, group) = (&guard.component_id, &guard.security_group_id);
        let sql = "DELETE FROM component_security_groups
            WHERE client_id = ?1 AND component_id = ?2 AND security_group_id = ?3";
        Ok(self.execute(sql, (&guard.client_id, component, group))? > 0)
    }

    fn put_question(&mut self, question: &Question) -> Result<()> {
        let (id, text) = (&question.question_id, &question.question_text);
        let sql = "INSERT OR REPLACE INTO questions VALUES (?1, ?2, ?3, ?4)";
        let options = json(&question.options)?;
        self.execute(sql, (id, text, options, &question.client_type))?;
        Ok(())
    }

    fn put_answer(&mut self, answer: &Answer) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO answers VALUES (?1, ?2, ?3)";
        let chosen = json(&answer.chosen_options)?;
        self.execute(sql, (&answer.client_id, &answer.question_id, chosen))?;
        Ok(())
    }

    fn put_media(&mut self, media: &Media) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO media_library VALUES (?1, ?2, ?3)";
        self.execute(sql, (&media.client_id, &media.library_id, &media.s3_key))?;
        Ok(())
    }

    fn find_fault(&self) -> Result<Option<String>> {
        self.first(FAULTS, [], |row| row.get(0))
    }
}

impl Chats for Open<'_> {
    fn chat(&self, conversation: &str) -> Result<Chat> {
        let sql = "SELECT memory FROM chats WHERE conversation_id = ?1";
        Ok(self.record(sql, [conversation])?.unwrap_or_default())
    }

    fn put_chat(&mut self, conversation: &str, chat: &Chat, now: &str) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO chats VALUES (?1, ?2, ?3)";
        self.execute(sql, (conversation, json(chat)?, now))?;
        Ok(())
    }
}
