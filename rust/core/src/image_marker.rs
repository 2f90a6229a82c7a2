//! Image markers: images inside a plain text, `[OH_IMAGE:` and the image's URL up to the first `]`.
//!
//! The walk is written once, over whatever can search: the core searches UTF-8; a host whose texts are
//! held in another form searches those in their own, without turning them into UTF-8 first.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

/// What a marker begins with.
pub const IMAGE_MARKER_PREFIX: &str = "[OH_IMAGE:";
/// What ends it, at its first occurrence.
pub const IMAGE_MARKER_END: char = ']';

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text between markers; never empty, and never beside another one.
    Text(&'a str),
    /// The payload of a marker, verbatim; may be empty.
    Image(&'a str),
}

/// A part of a text as a range of it, in the units of its [`Search`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// Text.
    Text(Range<usize>),
    /// A payload, without what marks it.
    Image(Range<usize>),
}

/// A text in which markers are searched, in units of its own.
pub trait Search {
    /// What can go wrong while searching.
    type Error;
    /// How long the text is.
    fn length(&self) -> usize;
    /// Where the first [`IMAGE_MARKER_PREFIX`] begins, from there on.
    ///
    /// # Errors
    /// The search failed.
    fn prefix(&mut self, from: usize) -> Result<Option<usize>, Self::Error>;
    /// Where the first [`IMAGE_MARKER_END`] stands, from there on.
    ///
    /// # Errors
    /// The search failed.
    fn end(&mut self, from: usize) -> Result<Option<usize>, Self::Error>;
}

/// The parts of a text, left to right. What is searched is searched once.
#[derive(Debug)]
pub struct Spans<S> {
    search: S,
    at: usize,
    /// A payload whose text before it was given.
    image: Option<Range<usize>>,
}

impl<S: Search> Spans<S> {
    /// The parts of what `search` searches.
    pub const fn new(search: S) -> Self {
        Self {
            search,
            at: 0,
            image: None,
        }
    }

    /// The next payload from the place reached, which moves behind its marker.
    ///
    /// # Errors
    /// The search failed.
    pub fn next_image(&mut self) -> Result<Option<Range<usize>>, S::Error> {
        let Some(marker) = self.search.prefix(self.at)? else {
            return Ok(None);
        };
        let payload = marker + IMAGE_MARKER_PREFIX.len();
        let Some(end) = self.search.end(payload)? else {
            return Ok(None);
        };
        self.at = end + 1;
        Ok(Some(payload..end))
    }

    /// The next part.
    ///
    /// # Errors
    /// The search failed.
    pub fn next_span(&mut self) -> Result<Option<Span>, S::Error> {
        if let Some(image) = self.image.take() {
            return Ok(Some(Span::Image(image)));
        }
        let from = self.at;
        let Some(image) = self.next_image()? else {
            self.at = self.search.length();
            return Ok((from < self.at).then_some(Span::Text(from..self.at)));
        };
        let marker = image.start - IMAGE_MARKER_PREFIX.len();
        if from == marker {
            return Ok(Some(Span::Image(image)));
        }
        self.image = Some(image);
        Ok(Some(Span::Text(from..marker)))
    }
}

static PREFIX: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(IMAGE_MARKER_PREFIX));

/// The bytes of a text in UTF-8.
#[derive(Debug, Clone, Copy)]
pub struct Utf8<'a>(pub &'a str);

impl Search for Utf8<'_> {
    type Error = Infallible;

    fn length(&self) -> usize {
        self.0.len()
    }

    fn prefix(&mut self, from: usize) -> Result<Option<usize>, Infallible> {
        let found = self
            .0
            .as_bytes()
            .get(from..)
            .and_then(|rest| PREFIX.find(rest));
        Ok(found.map(|at| from + at))
    }

    fn end(&mut self, from: usize) -> Result<Option<usize>, Infallible> {
        let found = self
            .0
            .as_bytes()
            .get(from..)
            .and_then(|rest| memchr::memchr(b']', rest));
        Ok(found.map(|at| from + at))
    }
}

/// Cuts a text into its parts: payloads verbatim, an unterminated marker and all after it as text.
/// [`join_image_parts`] puts them together again, to the same text whatever it is.
pub fn split_image_parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut spans = Spans::new(Utf8(text));
    std::iter::from_fn(move || {
        let Ok(span) = spans.next_span();
        span.map(|span| match span {
            Span::Text(range) => Part::Text(&text[range]),
            Span::Image(range) => Part::Image(&text[range]),
        })
    })
}

/// How many images a text holds.
#[must_use]
pub fn count_image_parts(text: &str) -> usize {
    let mut spans = Spans::new(Utf8(text));
    std::iter::from_fn(|| {
        let Ok(image) = spans.next_image();
        image
    })
    .count()
}

/// Whether a text holds an image.
#[must_use]
pub fn has_image_parts(text: &str) -> bool {
    let Ok(image) = Spans::new(Utf8(text)).next_image();
    image.is_some()
}

/// Puts parts together.
#[must_use]
pub fn join_image_parts(parts: &[Part<'_>]) -> String {
    let length = parts.iter().map(|part| match part {
        Part::Text(text) => text.len(),
        Part::Image(url) => url.len() + IMAGE_MARKER_PREFIX.len() + 1,
    });
    let mut out = String::with_capacity(length.sum());
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Image(url) => {
                out.push_str(IMAGE_MARKER_PREFIX);
                out.push_str(url);
                out.push(IMAGE_MARKER_END);
            }
        }
    }
    out
}

/// Why parts would not come back the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritable {
    /// A text is empty: it would vanish.
    EmptyText,
    /// A text follows a text: they would merge.
    AdjacentTexts,
    /// A text holds a prefix that would become a marker.
    PrefixInText,
    /// A payload holds what ends it.
    EndInPayload,
}

/// Finds the first part that would not come back the same from [`join_image_parts`] and
/// [`split_image_parts`]; None where all would.
#[must_use]
pub fn find_unwritable(parts: &[Part<'_>]) -> Option<(usize, Unwritable)> {
    let mut after_text = false;
    for (at, part) in parts.iter().enumerate() {
        let fault = match part {
            Part::Image(url) => url
                .contains(IMAGE_MARKER_END)
                .then_some(Unwritable::EndInPayload),
            Part::Text("") => Some(Unwritable::EmptyText),
            Part::Text(_) if after_text => Some(Unwritable::AdjacentTexts),
            Part::Text(text) => text
                .find(IMAGE_MARKER_PREFIX)
                // In the last text a prefix stays text as long as nothing ends it.
                .filter(|&prefix| at + 1 < parts.len() || text[prefix..].contains(IMAGE_MARKER_END))
                .map(|_| Unwritable::PrefixInText),
        };
        if let Some(fault) = fault {
            return Some((at, fault));
        }
        after_text = matches!(part, Part::Text(_));
    }
    None
}
