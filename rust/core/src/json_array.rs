//! A JSON array whose elements are taken one by one as they come: Gemini's streams without `alt=sse`.

use std::ops::ControlFlow;

use crate::json::quote_or_escape;

/// An element has more bytes than allowed, or the text is no array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayError {
    /// The element is larger than allowed.
    TooLarge {
        /// Where the element begins, in bytes from the start of the stream.
        offset: u64,
    },
    /// Between elements stands what cannot stand there.
    Malformed {
        /// Where it stands.
        offset: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// Before the opening bracket.
    #[default]
    Before,
    /// Where an element may begin.
    Between,
    /// In an element that is an object or array, outside of its strings.
    Inside,
    /// In a string.
    String,
    /// Behind a backslash in a string.
    Escape,
    /// In a number or a word.
    Scalar,
    /// Behind the closing bracket.
    After,
}

/// The incremental splitter. It keeps at most the bytes of one unfinished element, and tells elements
/// apart by brackets and strings alone: whether each is JSON is for the caller to check.
#[derive(Debug, Default)]
pub struct Splitter {
    max_element_bytes: Option<usize>,
    place: Place,
    depth: usize,
    element: Vec<u8>,
    /// Where the element begins.
    offset: u64,
    consumed: u64,
}

/// Who is told of the elements.
pub trait Handler {
    /// Takes the next element and where it begins, and may break off.
    fn element(&mut self, element: &[u8], offset: u64) -> ControlFlow<()>;

    /// Takes a whole element off the front of `bytes` that it can read without looking for its end, and gives
    /// how many bytes it has: 0 for none. `offset` is where `bytes` begins.
    fn shortcut(&mut self, bytes: &[u8], offset: u64) -> usize {
        let _ = (bytes, offset);
        0
    }
}

impl<F: FnMut(&[u8], u64) -> ControlFlow<()>> Handler for F {
    fn element(&mut self, element: &[u8], offset: u64) -> ControlFlow<()> {
        self(element, offset)
    }
}

impl Splitter {
    /// A splitter at the start of a text. An element of more than `max_element_bytes` bytes fails.
    #[must_use]
    pub fn new(max_element_bytes: Option<usize>) -> Self {
        Self {
            max_element_bytes,
            ..Self::default()
        }
    }

    /// How many bytes came so far.
    #[must_use]
    pub const fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The bytes of the element that has begun and not ended, and where it begins.
    #[must_use]
    pub fn unfinished(&self) -> Option<(&[u8], u64)> {
        (!self.element.is_empty()).then_some((self.element.as_slice(), self.offset))
    }

    /// Takes the next bytes and gives each element that they complete, with its offset, to `handler`, which
    /// may break off.
    ///
    /// # Errors
    /// [`ArrayError`]; nothing may be fed after it.
    pub fn feed(&mut self, chunk: &[u8], handler: &mut impl Handler) -> Result<(), ArrayError> {
        let base = self.consumed;
        self.consumed += chunk.len() as u64;
        // Where the part of the element that lies in this chunk begins.
        let mut start = 0;
        let mut at = 0;
        while let Some(&byte) = chunk.get(at) {
            match self.place {
                Place::Before => {
                    at += 1;
                    if byte == b'[' {
                        self.place = Place::Between;
                    }
                }
                Place::After => return Ok(()),
                Place::Between => {
                    match byte {
                        b' ' | b'\t' | b'\n' | b'\r' | b',' => {}
                        b']' => self.place = Place::After,
                        b'}' => {
                            return Err(ArrayError::Malformed {
                                offset: base + at as u64,
                            });
                        }
                        _ => {
                            let known = handler.shortcut(&chunk[at..], base + at as u64);
                            if known > 0 {
                                at += known;
                                continue;
                            }
                            start = at;
                            self.offset = base + at as u64;
                            self.place = match byte {
                                b'{' | b'[' => Place::Inside,
                                b'"' => Place::String,
                                _ => Place::Scalar,
                            };
                            self.depth = usize::from(self.place == Place::Inside);
                        }
                    }
                    at += 1;
                }
                Place::Inside => {
                    at += 1;
                    match byte {
                        b'"' => self.place = Place::String,
                        b'{' | b'[' => self.depth += 1,
                        b'}' | b']' => {
                            self.depth -= 1;
                            if self.depth == 0 && self.end(&chunk[start..at], handler)?.is_break() {
                                return Ok(());
                            }
                        }
                        _ => {}
                    }
                }
                Place::String => {
                    let found = quote_or_escape(chunk, at);
                    at = found.map_or(chunk.len(), |place| place + 1);
                    match found.map(|_| chunk[at - 1]) {
                        Some(b'\\') => self.place = Place::Escape,
                        Some(_) if self.depth > 0 => self.place = Place::Inside,
                        Some(_) if self.end(&chunk[start..at], handler)?.is_break() => {
                            return Ok(());
                        }
                        _ => {}
                    }
                }
                Place::Escape => {
                    at += 1;
                    self.place = Place::String;
                }
                Place::Scalar => {
                    if matches!(byte, b',' | b']' | b' ' | b'\t' | b'\n' | b'\r') {
                        if self.end(&chunk[start..at], handler)?.is_break() {
                            return Ok(());
                        }
                    } else {
                        at += 1;
                    }
                }
            }
        }
        if !matches!(self.place, Place::Before | Place::Between | Place::After) {
            self.element.extend_from_slice(&chunk[start..]);
            self.check(self.element.len())?;
        }
        Ok(())
    }

    fn check(&self, length: usize) -> Result<(), ArrayError> {
        match self.max_element_bytes {
            Some(limit) if length > limit => Err(ArrayError::TooLarge {
                offset: self.offset,
            }),
            _ => Ok(()),
        }
    }

    /// The element ends with `tail`, the part of it that lies in this chunk.
    fn end(
        &mut self,
        tail: &[u8],
        handler: &mut impl Handler,
    ) -> Result<ControlFlow<()>, ArrayError> {
        self.place = Place::Between;
        self.check(self.element.len() + tail.len())?;
        if self.element.is_empty() {
            return Ok(handler.element(tail, self.offset));
        }
        let mut element = std::mem::take(&mut self.element);
        element.extend_from_slice(tail);
        let flow = handler.element(&element, self.offset);
        element.clear();
        self.element = element;
        Ok(flow)
    }
}
