//! Many bodies at once: how they are cut into pieces of work, and how threads share these. The threads end
//! with the call.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, Builder};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::data::bytes_of;

/// A body that can be read without the interpreter.
pub(crate) enum Body {
    Shared(PyBackedBytes),
    Owned(Vec<u8>),
}

impl Body {
    fn new(body: &Bound<'_, PyAny>) -> PyResult<Self> {
        match body.cast::<PyBytes>() {
            Ok(bytes) => Ok(Self::Shared(PyBackedBytes::from(bytes.clone()))),
            Err(_) => Ok(Self::Owned(bytes_of(body)?.into_owned())),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// Bodies in pieces of work: neighbours, until they are long enough together.
pub(crate) struct Batch {
    bodies: Vec<Body>,
    /// Where each piece ends, counted in bodies.
    ends: Vec<usize>,
}

impl Batch {
    /// Takes the bodies of an iterable. A piece is at least as long as `size` says, which is told how long all
    /// bodies are together; only the last one may be shorter.
    pub(crate) fn new(
        bodies: &Bound<'_, PyAny>,
        size: impl FnOnce(usize) -> usize,
    ) -> PyResult<Self> {
        let bodies = bodies
            .try_iter()?
            .map(|body| Body::new(&body?))
            .collect::<PyResult<Vec<_>>>()?;
        let size = size(bodies.iter().map(|body| body.bytes().len()).sum());
        let mut ends = Vec::new();
        let mut length = 0;
        for (at, body) in bodies.iter().enumerate() {
            // Even an empty body is some work.
            length += body.bytes().len() + LEAST_BODY;
            if length >= size {
                ends.push(at + 1);
                length = 0;
            }
        }
        if length > 0 {
            ends.push(bodies.len());
        }
        Ok(Self { bodies, ends })
    }

    /// How many pieces there are.
    pub(crate) fn pieces(&self) -> usize {
        self.ends.len()
    }

    /// The bodies of a piece, with their places.
    pub(crate) fn piece(&self, at: usize) -> impl Iterator<Item = (usize, &Body)> {
        self.range(at).zip(&self.bodies[self.range(at)])
    }

    fn range(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start..self.ends[at]
    }
}

/// What a body counts for beside its bytes: a decoder is made for it.
const LEAST_BODY: usize = 256;

/// An argument `threads`.
pub(crate) fn check_threads(threads: usize) -> PyResult<()> {
    if threads == 0 {
        return Err(PyValueError::new_err("threads is at least 1"));
    }
    Ok(())
}

/// Does pieces of work in so many threads, the caller's among them. What is done goes, with the number of
/// its piece, to `take`, in the caller's thread and as soon as that has finished a piece of its own; `take`
/// may leave it there, but for the last call, which is told so. An error of `take` ends the work.
pub(crate) fn share<T: Send, E>(
    pieces: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(&mut Vec<(usize, T)>, bool) -> Result<(), E>,
) -> Result<(), E> {
    // Whoever is free takes the next piece, so that a long one does not hold up the rest.
    let next = AtomicUsize::new(0);
    let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < pieces);
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        let mut handles = Vec::new();
        for _ in 1..threads.min(pieces) {
            let sender = sender.clone();
            let (claim, work) = (&claim, &work);
            let run = move || {
                while let Some(at) = claim() {
                    if sender.send((at, work(at))).is_err() {
                        break;
                    }
                }
            };
            // Where the system has no more threads to give, those that there are do it.
            match Builder::new().spawn_scoped(scope, run) {
                Ok(handle) => handles.push(handle),
                Err(_) => break,
            }
        }
        drop(sender);
        let mut main = || {
            let mut done = Vec::new();
            while let Some(at) = claim() {
                done.push((at, work(at)));
                done.extend(receiver.try_iter());
                take(&mut done, false)?;
            }
            while let Ok(first) = receiver.recv() {
                done.push(first);
                done.extend(receiver.try_iter());
                take(&mut done, false)?;
            }
            take(&mut done, true)
        };
        let result = main();
        // Nobody takes another piece if this has failed.
        next.store(pieces, Ordering::Relaxed);
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
        result
    })
}
