//! The output of a response that is not streamed.

use super::OpenAiResponses;
use super::items::{Call, Message, Reasoning, escaped, is_item, known_kind, proof};
use crate::assemble::Block;
use crate::encode::note::NoteCode;
use crate::encode::turn::Turn;
use crate::json::Raw;

impl OpenAiResponses {
    /// Makes the output of a response that is not streamed; `refusal` is the text that is one.
    pub(super) fn say_items(&mut self, turn: &mut Turn, content: &[Block], refusal: Option<usize>) {
        let mut message: Option<Message> = None;
        for (index, block) in content.iter().enumerate() {
            if let Block::Text {
                text,
                citations,
                signature,
                extra,
            } = block
            {
                if signature.is_some() {
                    let detail = "only reasoning has a signature on this wire";
                    turn.note(NoteCode::SignatureDropped, Some(index), detail);
                }
                if extra.is_some() || !self.is_own {
                    self.finish_message(message.take(), refusal, index);
                }
                let place = self.output.len();
                message
                    .get_or_insert_with(|| {
                        Message::with(extra.as_deref(), self.item_id("msg", place))
                    })
                    .add(text, citations);
                continue;
            }
            self.finish_message(message.take(), refusal, index);
            let place = self.output.len();
            let mut item = Vec::new();
            match block {
                Block::Thinking { text, signature } => {
                    let [encrypted, id] =
                        proof(turn, index, signature.as_deref().unwrap_or_default());
                    if encrypted.is_some() || !text.is_empty() {
                        let reasoning = Reasoning {
                            id: id.unwrap_or_else(|| self.item_id("rs", place)),
                            text: escaped(text),
                            encrypted,
                        };
                        reasoning.write(true, &mut item);
                    }
                }
                Block::ToolUse {
                    id,
                    name,
                    arguments,
                    signature,
                    extra,
                    ..
                } => {
                    if signature.is_some() {
                        let detail = "only reasoning has a signature on this wire";
                        turn.note(NoteCode::SignatureDropped, Some(index), detail);
                    }
                    let extra = known_kind(turn, index, extra.as_deref().map(Raw::assume));
                    let id = turn.call_id(id, index, name);
                    let mut call = Call::new(self.item_id("fc", place), &id, name, extra);
                    call.text = escaped(arguments);
                    call.write(true, &mut item);
                }
                Block::Provider { kind, json } if is_item(kind, Raw::assume(json)) => {
                    item = self.whole_item(kind, json);
                }
                Block::Provider { kind, .. } => {
                    let detail = format!("an extension {kind:?} is no item of that type");
                    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
                }
                _ => {
                    let detail = "this wire has no redacted thinking";
                    turn.note(NoteCode::ReasoningDropped, Some(index), detail);
                }
            }
            if !item.is_empty() {
                self.output.push(item);
            }
        }
        self.finish_message(message, refusal, content.len());
    }

    /// Adds a message item whose last text is the block before `end`.
    fn finish_message(&mut self, message: Option<Message>, refusal: Option<usize>, end: usize) {
        if let Some(message) = message {
            let mut item = Vec::new();
            let refuses = refusal.is_some_and(|refusal| refusal + 1 == end);
            message.write(true, refuses, &mut item);
            self.output.push(item);
        }
    }
}
