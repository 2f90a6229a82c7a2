//! Room for what is put together before it becomes a Python string, kept by each thread from call to call:
//! asking the system for it anew costs as much as filling it.

use std::cell::Cell;

use turntape_core::envelope::Said;

/// How much a thread keeps, in bytes.
const MOST: usize = 1024 * 1024;

thread_local! {
    static BYTES: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static SAID: Cell<Said> = const { Cell::new(Said::new()) };
}

/// Hands empty bytes to `work`.
pub(crate) fn with_bytes<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    // Taken out, so that `work` may come back here: it then gets other ones.
    let mut bytes = BYTES.take();
    bytes.clear();
    let result = work(&mut bytes);
    if bytes.capacity() <= MOST {
        BYTES.set(bytes);
    }
    result
}

/// Hands room for what strings say to `work`.
pub(crate) fn with_said<T>(work: impl FnOnce(&mut Said) -> T) -> T {
    let mut said = SAID.take();
    let result = work(&mut said);
    said.clear(MOST);
    SAID.set(said);
    result
}
