//! Where a row of a chat history keeps its content.

use std::ops::Range;

use crate::json::{MAX_PAYLOAD_DEPTH, Raw, Str};

/// The content of a row that is one JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowContent<'a> {
    /// The row's role.
    pub role: Str<'a>,
    /// What it says.
    pub content: Str<'a>,
    /// Where the content's literal stands in the row, its quotes included.
    pub place: Range<usize>,
}

/// Finds the content of a row; None where that is no object with the strings `role` and `content`. Of
/// members with one name the last one counts.
#[must_use]
pub fn row_content(row: &str) -> Option<RowContent<'_>> {
    let raw = Raw::parse(row, MAX_PAYLOAD_DEPTH).ok()?;
    let [role, content] = raw.members(&["role", "content"]);
    let literal = content?.text();
    let from = literal.as_ptr().addr() - row.as_ptr().addr();
    Some(RowContent {
        role: role?.as_str()?,
        content: content?.as_str()?,
        place: from..from + literal.len(),
    })
}
