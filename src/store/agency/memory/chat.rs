//! What the chat works on and remembers, in lists.

use super::MemoryTransaction;
use crate::chat::Chat;
use crate::chat::record::{
    Answer, Answered, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::error::Result;
use crate::store::agency::{Chats, Components};

/// Everything of the chat that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct ChatState {
    clients: Vec<Client>,
    designs: Vec<Design>,
    components: Vec<Component>,
    removed: Vec<(String, i64)>,
    groups: Vec<SecurityGroup>,
    guards: Vec<Guard>,
    questions: Vec<Question>,
    answers: Vec<Answer>,
    media: Vec<Media>,
    chats: Vec<(String, Chat)>,
}

/// Writes a row over the one that is the same, or at the end.
fn put<T: Clone>(rows: &mut Vec<T>, row: &T, is_same: impl Fn(&T) -> bool) {
    rows.retain(|there| !is_same(there));
    rows.push(row.clone());
}

fn by_number(id: &str) -> (usize, String) {
    (id.len(), id.to_string())
}

impl Components for MemoryTransaction<'_> {
    fn client(&self, client: &str) -> Result<Option<Client>> {
        let mut rows = self.state.chat.clients.iter();
        Ok(rows.find(|row| row.client_id == client).cloned())
    }

    fn design(&self, client: &str) -> Result<Option<Design>> {
        let mut rows = self.state.chat.designs.iter();
        Ok(rows.find(|row| row.client_id == client).cloned())
    }

    fn components(&self, client: &str) -> Result<Vec<Component>> {
        let rows = self.state.chat.components.iter();
        let mut rows: Vec<_> = rows
            .filter(|row| row.client_id == client)
            .cloned()
            .collect();
        rows.sort_by_key(|row| (row.display_order, by_number(&row.component_id)));
        Ok(rows)
    }

    fn component(&self, client: &str, id: &str) -> Result<Option<Component>> {
        let mut rows = self.components(client)?.into_iter();
        Ok(rows.find(|row| row.component_id == id))
    }

    fn last_removed(&self, client: &str) -> Result<Option<i64>> {
        let rows = self.state.chat.removed.iter();
        let rows = rows.filter(|(owner, _)| owner == client);
        Ok(rows.map(|(_, number)| *number).max())
    }

    fn security_groups(&self, client: &str) -> Result<Vec<SecurityGroup>> {
        let rows = self.state.chat.groups.iter();
        let mut rows: Vec<_> = rows
            .filter(|row| row.client_id == client)
            .cloned()
            .collect();
        rows.sort_by_key(|row| by_number(&row.security_group_id));
        Ok(rows)
    }

    fn guards(&self, client: &str, component: &str) -> Result<Vec<String>> {
        let rows = self.state.chat.guards.iter();
        let rows = rows.filter(|row| row.client_id == client && row.component_id == component);
        let mut ids: Vec<_> = rows.map(|row| row.security_group_id.clone()).collect();
        ids.sort_by_key(|id| by_number(id));
        Ok(ids)
    }

    fn answers(&self, client: &str) -> Result<Vec<Answered>> {
        let kind = self.client(client)?.map(|client| client.client_type);
        let questions = self.state.chat.questions.iter();
        let mut questions: Vec<_> = questions
            .filter(|question| Some(&question.client_type) == kind.as_ref())
            .collect();
        questions.sort_by_key(|question| by_number(&question.question_id));
        let answered = questions.into_iter().filter_map(|question| {
            let mut answers = self.state.chat.answers.iter();
            let answer = answers.find(|answer| {
                answer.client_id == client && answer.question_id == question.question_id
            })?;
            Some(Answered {
                question: question.question_text.clone(),
                chosen_options: answer.chosen_options.clone(),
            })
        });
        Ok(answered.collect())
    }

    fn question(&self, id: &str) -> Result<Option<Question>> {
        let mut rows = self.state.chat.questions.iter();
        Ok(rows.find(|row| row.question_id == id).cloned())
    }

    fn media(&self, client: &str, library: &str) -> Result<Option<Media>> {
        let mut rows = self.state.chat.media.iter();
        let found = rows.find(|row| row.client_id == client && row.library_id == library);
        Ok(found.cloned())
    }

    fn put_client(&mut self, client: &Client) -> Result<()> {
        put(&mut self.state.chat.clients, client, |row| {
            row.client_id == client.client_id
        });
        Ok(())
    }

    fn put_design(&mut self, design: &Design) -> Result<()> {
        put(&mut self.state.chat.designs, design, |row| {
            row.client_id == design.client_id
        });
        Ok(())
    }

    fn put_component(&mut self, component: &Component) -> Result<()> {
        let key = |row: &Component| (row.client_id.clone(), row.component_id.clone());
        put(&mut self.state.chat.components, component, |row| {
            key(row) == key(component)
        });
        Ok(())
    }

    fn remove_component(&mut self, client: &str, id: &str) -> Result<bool> {
        let is_it = |c: &str, i: &str| c == client && i == id;
        let guards = &mut self.state.chat.guards;
        guards.retain(|row| !is_it(&row.client_id, &row.component_id));
        let rows = &mut self.state.chat.components;
        let before = rows.len();
        rows.retain(|row| !is_it(&row.client_id, &row.component_id));
        let is_gone = rows.len() < before;
        if is_gone {
            let number = id.parse().unwrap_or_default();
            self.state.chat.removed.push((client.to_string(), number));
        }
        Ok(is_gone)
    }

    fn put_security_group(&mut self, group: &SecurityGroup) -> Result<()> {
        let key = |row: &SecurityGroup| (row.client_id.clone(), row.security_group_id.clone());
        put(&mut self.state.chat.groups, group, |row| {
            key(row) == key(group)
        });
        Ok(())
    }

    fn put_guard(&mut self, guard: &Guard) -> Result<()> {
        put(&mut self.state.chat.guards, guard, |row| row == guard);
        Ok(())
    }

    fn remove_guard(&mut self, guard: &Guard) -> Result<bool> {
        let rows = &mut self.state.chat.guards;
        let before = rows.len();
        rows.retain(|row| row != guard);
        Ok(rows.len() < before)
    }

    fn put_question(&mut self, question: &Question) -> Result<()> {
        put(&mut self.state.chat.questions, question, |row| {
            row.question_id == question.question_id
        });
        Ok(())
    }

    fn put_answer(&mut self, answer: &Answer) -> Result<()> {
        let key = |row: &Answer| (row.client_id.clone(), row.question_id.clone());
        put(&mut self.state.chat.answers, answer, |row| {
            key(row) == key(answer)
        });
        Ok(())
    }

    fn put_media(&mut self, media: &Media) -> Result<()> {
        let key = |row: &Media| (row.client_id.clone(), row.library_id.clone());
        put(&mut self.state.chat.media, media, |row| {
            key(row) == key(media)
        });
        Ok(())
    }
}

impl Chats for MemoryTransaction<'_> {
    fn chat(&self, conversation: &str) -> Result<Chat> {
        let mut rows = self.state.chat.chats.iter();
        let found = rows.find(|(id, _)| id == conversation);
        Ok(found.map(|(_, chat)| chat.clone()).unwrap_or_default())
    }

    fn put_chat(&mut self, conversation: &str, chat: &Chat, _now: &str) -> Result<()> {
        let row = (conversation.to_string(), chat.clone());
        put(&mut self.state.chat.chats, &row, |there| {
            there.0 == conversation
        });
        Ok(())
    }
}
