//! Where the long values of a JSON text end: written down while it is validated, so that a payload with pages
//! of text in it is read once, not once for each member that is looked for.

use crate::json::value_end;

/// A long value inside another one: where it begins and ends, as addresses, because slices of a text know
/// nothing of each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Long {
    start: usize,
    end: usize,
    /// How many of the values behind this one are inside of it.
    inner: usize,
}

impl Long {
    /// From this length on skipping a value costs more than looking it up.
    const LENGTH: usize = 32;
}

/// Where the long values of a text end. Its memory serves one text after the other.
#[derive(Debug, Default)]
pub(crate) struct Index {
    long: Vec<Long>,
    /// Which of them are open: arrays and objects that have not ended.
    open: Vec<usize>,
}

impl Index {
    /// What is known of the values in `text`, the one value of the text that was recorded.
    pub(crate) fn inside(&self, text: &str) -> &[Long] {
        // The first value is the text itself, unless it is short.
        match self.long.split_first() {
            Some((whole, inner)) if whole.start == text.as_ptr().addr() => inner,
            _ => &[],
        }
    }
}

/// Who is told where values begin and end, as offsets.
pub(crate) trait Record {
    fn begin(&mut self, _at: usize) {}
    fn end(&mut self, _at: usize) {}
    fn string(&mut self, _start: usize, _end: usize) {}
}

/// For those who only want to know whether it is JSON.
impl Record for () {}

pub(crate) struct Recorder<'i> {
    index: &'i mut Index,
    base: usize,
}

impl<'i> Recorder<'i> {
    /// A recorder for the values of `text`, which forgets those of the text before.
    pub(crate) fn new(text: &str, index: &'i mut Index) -> Self {
        index.long.clear();
        index.open.clear();
        let base = text.as_ptr().addr();
        Self { index, base }
    }
}

impl Record for Recorder<'_> {
    #[inline]
    fn begin(&mut self, at: usize) {
        let Index { long, open } = &mut *self.index;
        open.push(long.len());
        long.push(Long {
            start: self.base + at,
            end: 0,
            inner: 0,
        });
    }

    #[inline]
    fn end(&mut self, at: usize) {
        let Index { long, open } = &mut *self.index;
        let Some(place) = open.pop() else { return };
        let inner = long.len() - place - 1;
        if let Some(value) = long.get_mut(place) {
            value.end = self.base + at;
            value.inner = inner;
            if value.end - value.start < Long::LENGTH {
                long.truncate(place);
            }
        }
    }

    #[inline]
    fn string(&mut self, start: usize, end: usize) {
        if end - start >= Long::LENGTH {
            self.index.long.push(Long {
                start: self.base + start,
                end: self.base + end,
                inner: 0,
            });
        }
    }
}

/// The offset behind the value that starts at `at`, and what is known of the long values in it; `long` is what
/// is known of those from `at` on, and is brought behind the value.
#[inline]
pub(crate) fn known_end<'a>(
    text: &'a str,
    at: usize,
    long: &mut &'a [Long],
) -> Option<(usize, &'a [Long])> {
    if let Some((first, rest)) = long.split_first()
        && first.start == text.as_ptr().addr() + at
    {
        let inner;
        (inner, *long) = rest.split_at_checked(first.inner)?;
        return Some((at + first.end - first.start, inner));
    }
    Some((value_end(text.as_bytes(), at)?, &[]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Index;
    use crate::json::{Raw, Str};

    /// What a walk over a value finds, in order.
    fn walk(value: Raw<'_>, found: &mut Vec<String>) {
        found.push(value.text().to_owned());
        for (key, member) in value.entries() {
            found.push(Str::to_text(key));
            walk(member, found);
        }
        for element in value.elements() {
            walk(element, found);
        }
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<i32>().prop_map(|number| number.to_string()),
            "\"[a-z é]{0,60}(\\\\n|\\\\\"|\\\\\\\\){0,3}[a-z{}:,]{0,10}\"",
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let spaced = ("[ \n]{0,2}", inner.clone()).prop_map(|(space, value)| space + &value);
            prop_oneof![
                proptest::collection::vec(spaced.clone(), 0..5)
                    .prop_map(|elements| format!("[{} ]", elements.join(","))),
                proptest::collection::vec(("[a-z]{0,40}", spaced), 0..5).prop_map(|members| {
                    let members = members
                        .iter()
                        .map(|(key, value)| format!("\"{key}\" :{value}"));
                    format!("{{ {}}}", members.collect::<Vec<_>>().join(" ,"))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_known_changes_nothing(text in value(), before in value()) {
            let text = format!(" {text} ");
            let (mut plain, mut known) = (Vec::new(), Vec::new());
            walk(Raw::parse(&text, 100).unwrap(), &mut plain);
            let mut index = Index::default();
            // What stands in it from another text must not matter.
            prop_assert!(Raw::parse_with(&before, 100, &mut index).is_ok());
            walk(Raw::parse_with(&text, 100, &mut index).unwrap(), &mut known);
            prop_assert_eq!(plain, known);
        }
    }
}
