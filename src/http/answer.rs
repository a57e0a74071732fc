//! Replies of the server.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use serde::Serialize;

use crate::document::append_json;
use crate::error::{Code, Error, Result};

pub(super) const JSON: &str = "application/json";

pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let mut text = Vec::with_capacity(1_024);
    append_json(value, &mut text).map_err(|cause| {
        Error::new(Code::Internal, "the reply cannot be written as JSON").because(cause)
    })?;
    Ok(text)
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Stream(Body),
}

impl Answer {
    pub(super) fn ok<T: Serialize + ?Sized>(value: &T) -> Result<Answer> {
        Answer::json(StatusCode::OK, value)
    }

    pub(super) fn json<T: Serialize + ?Sized>(status: StatusCode, value: &T) -> Result<Answer> {
        Ok(Answer::bytes(JSON, json(value)?).under(status))
    }

    pub(super) fn bytes(mime: &'static str, bytes: impl Into<Bytes>) -> Answer {
        Answer::holding(mime, Content::Whole(bytes.into()))
    }

    pub(super) fn stream(mime: &'static str, body: Body) -> Answer {
        Answer::holding(mime, Content::Stream(body))
    }

    fn holding(mime: &'static str, content: Content) -> Answer {
        Answer {
            status: StatusCode::OK,
            headers: vec![(CONTENT_TYPE, HeaderValue::from_static(mime))],
            content,
        }
    }

    pub(super) fn map_text(mut self, edit: impl FnOnce(&str) -> Option<String>) -> Answer {
        if let Content::Whole(bytes) = &self.content
            && let Some(text) = std::str::from_utf8(bytes).ok().and_then(edit)
        {
            self.content = Content::Whole(text.into());
        }
        self
    }

    pub(super) fn under(mut self, status: StatusCode) -> Answer {
        self.status = status;
        self
    }

    /// Adds a header, unless its value is invalid.
    pub(super) fn header(mut self, name: HeaderName, value: &str) -> Answer {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    pub(super) fn response(self) -> Response<Body> {
        let mut response = Response::new(match self.content {
            Content::Whole(bytes) => Body::from(bytes),
            Content::Stream(body) => body,
        });
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}
