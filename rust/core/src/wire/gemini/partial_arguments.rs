//! Arguments that Gemini streams as pieces: a JSON path and a value each.

use std::collections::HashMap;

use crate::json::{Raw, push_literal};

/// How deep a path may go; deeper ones are cut to the depth that arguments may have.
const MAX_DEPTH: usize = crate::json::MAX_ARGUMENT_DEPTH;

/// The value that the pieces add up to, members in the order in which they first came.
#[derive(Debug, Default)]
pub(super) struct PartialArguments {
    nodes: Vec<Node>,
}

#[derive(Debug)]
enum Node {
    /// A number, a truth value or null, as it was written.
    Raw(String),
    /// A string, and the surrogate half that waits for its next piece.
    Text(String, Option<u16>),
    Object(Members<String>),
    Array(Members<usize>),
}

#[derive(Debug)]
struct Members<Key> {
    order: Vec<(Key, usize)>,
    places: HashMap<Key, usize>,
}

impl<Key: Clone + Eq + std::hash::Hash> Members<Key> {
    fn new() -> Self {
        Self {
            order: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// The node of a member; `next` is the node that a new member gets.
    fn node(&mut self, key: Key, next: usize) -> usize {
        if let Some(&place) = self.places.get(&key) {
            return self.order[place].1;
        }
        self.places.insert(key.clone(), self.order.len());
        self.order.push((key, next));
        next
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
}

impl PartialArguments {
    /// Takes a piece; returns how many lone surrogates became U+FFFD.
    pub(super) fn add(&mut self, piece: Raw<'_>) -> usize {
        let [path, string, number, boolean, null] = piece.members(&[
            "jsonPath",
            "stringValue",
            "numberValue",
            "boolValue",
            "nullValue",
        ]);
        let Some(path) = path.and_then(Raw::as_str) else {
            return 0;
        };
        let steps = steps(&path.to_text());
        let node = self.node(&steps);
        if let Some(string) = string.and_then(Raw::as_str) {
            if !matches!(self.nodes[node], Node::Text(..)) {
                self.nodes[node] = Node::Text(String::new(), None);
            }
            if let Node::Text(text, half) = &mut self.nodes[node] {
                return string.push_to(text, half);
            }
        } else if let Some(raw) = number.or(boolean) {
            self.nodes[node] = Node::Raw(raw.text().to_owned());
        } else if null.is_some() {
            self.nodes[node] = Node::Raw("null".to_owned());
        }
        0
    }

    /// The node at a path, made with all that leads to it where it is not there.
    fn node(&mut self, steps: &[Step]) -> usize {
        if self.nodes.is_empty() {
            self.nodes.push(Node::Object(Members::new()));
        }
        let mut at = 0;
        for step in steps.iter().take(MAX_DEPTH - 1) {
            let next = self.nodes.len();
            let found = match (step, &mut self.nodes[at]) {
                (Step::Member(name), Node::Object(members)) => members.node(name.clone(), next),
                (Step::Element(index), Node::Array(elements)) => elements.node(*index, next),
                // A path that contradicts the ones before it: the later one counts.
                (Step::Member(name), other) => {
                    let mut members = Members::new();
                    members.node(name.clone(), next);
                    *other = Node::Object(members);
                    next
                }
                (Step::Element(index), other) => {
                    let mut elements = Members::new();
                    elements.node(*index, next);
                    *other = Node::Array(elements);
                    next
                }
            };
            if found == next {
                self.nodes.push(Node::Raw("null".to_owned()));
            }
            at = found;
        }
        at
    }

    /// One compact JSON text; none where no piece came.
    pub(super) fn into_json(self) -> Option<String> {
        if self.nodes.is_empty() {
            return None;
        }
        let mut out = String::new();
        self.write(0, &mut out);
        Some(out)
    }

    /// Writes a node. Paths are at most `MAX_DEPTH` long, and so is the recursion.
    fn write(&self, at: usize, out: &mut String) {
        match &self.nodes[at] {
            Node::Raw(json) => out.push_str(json),
            Node::Text(text, half) => match half {
                Some(_) => push_literal(&format!("{text}\u{FFFD}"), out),
                None => push_literal(text, out),
            },
            Node::Object(members) => {
                out.push('{');
                for (place, (name, node)) in members.order.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    push_literal(name, out);
                    out.push(':');
                    self.write(*node, out);
                }
                out.push('}');
            }
            Node::Array(elements) => {
                // In the order of the indices; the wire sends them so, and a gap is not invented.
                let mut order: Vec<&(usize, usize)> = elements.order.iter().collect();
                order.sort_by_key(|(index, _)| *index);
                out.push('[');
                for (place, (_, node)) in order.into_iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    self.write(*node, out);
                }
                out.push(']');
            }
        }
    }
}

/// The steps of a JSON path (RFC 9535): `$.name`, `$['name']`, `$[0]`.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"'));
            if let Some(quote) = quote {
                let (name, after) = quoted(&after[1..], quote);
                steps.push(Step::Member(name));
                rest = after.strip_prefix(']').unwrap_or(after);
            } else {
                let end = after.find(']').unwrap_or(after.len());
                match after[..end].trim().parse() {
                    Ok(index) => steps.push(Step::Element(index)),
                    Err(_) => steps.push(Step::Member(after[..end].to_owned())),
                }
                rest = after.get(end + 1..).unwrap_or("");
            }
        } else {
            let after = rest.strip_prefix('.').unwrap_or(rest);
            let end = after.find(['.', '[']).unwrap_or(after.len());
            if end > 0 {
                steps.push(Step::Member(after[..end].to_owned()));
            } else if after.len() == rest.len() {
                break;
            }
            rest = &after[end..];
        }
    }
    steps
}

/// A quoted name up to its closing quote, a backslash keeping what follows it, and what comes after.
fn quoted(text: &str, quote: char) -> (String, &str) {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
            _ if character == quote => return (name, &text[at + character.len_utf8()..]),
            _ => name.push(character),
        }
    }
    (name, "")
}
