//! Short strings that come again and again, as words do: looking one up costs a fraction of making it.

use std::cell::RefCell;

use pyo3::prelude::*;
use pyo3::types::PyString;

/// How many strings a thread keeps: a power of two.
const KEPT: usize = 1024;
/// Longer ones seldom come twice.
const LONGEST: usize = 15;

/// The bytes of a string, then zeros, then its length.
type Key = [u8; LONGEST + 1];

thread_local! {
    /// Each string has one place, and goes when another one comes to it.
    static STRINGS: RefCell<Vec<(Key, Option<Py<PyString>>)>> = const { RefCell::new(Vec::new()) };
}

/// A Python string, the one of last time where it is still kept.
#[inline]
pub(crate) fn of<'py>(py: Python<'py>, text: &str) -> Bound<'py, PyString> {
    let mut key: Key = [0; LONGEST + 1];
    let Some(room) = key
        .get_mut(..text.len())
        .filter(|room| room.len() <= LONGEST)
    else {
        return PyString::new(py, text);
    };
    room.copy_from_slice(text.as_bytes());
    key[LONGEST] = u8::try_from(text.len()).unwrap_or(0);
    STRINGS.with(|strings| {
        let Ok(mut strings) = strings.try_borrow_mut() else {
            return PyString::new(py, text);
        };
        if strings.is_empty() {
            strings.resize_with(KEPT, || ([0; LONGEST + 1], None));
        }
        let (known, string) = &mut strings[place(key)];
        match string {
            Some(string) if *known == key => string.bind(py).clone(),
            other => {
                let new = PyString::new(py, text);
                *known = key;
                *other = Some(new.clone().unbind());
                new
            }
        }
    })
}

/// The place of a string, by the high bits of a product.
fn place(key: Key) -> usize {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let word = u128::from_le_bytes(key);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let folded = (word as u64) ^ ((word >> 64) as u64).rotate_left(29);
    let bits = u64::BITS - KEPT.trailing_zeros();
    usize::try_from(folded.wrapping_mul(ODD) >> bits).unwrap_or(0)
}
