//! `decode_many`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyList;
use turntape_core::decoder::Decoded;

use crate::batch::{Batch, Body, check_threads, share};
use crate::data::{Settings, number};
use crate::functions::{Outcome, outcome};

/// Decode many whole bodies of one dialect, the interpreter released meanwhile.
#[pyfunction]
#[pyo3(signature = (bodies, dialect, *, threads = 1, choice = 0, eof = "flush", max_event_bytes = None, strict = false, server_tools = None, name_map = None, vendor = None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
pub(crate) fn decode_many<'py>(
    py: Python<'py>,
    bodies: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = number)] threads: usize,
    #[pyo3(from_py_with = number)] choice: u64,
    eof: &str,
    #[pyo3(from_py_with = number)] max_event_bytes: Option<usize>,
    strict: bool,
    server_tools: Option<&Bound<'py, PyAny>>,
    name_map: Option<HashMap<String, String>>,
    vendor: Option<String>,
) -> PyResult<Bound<'py, PyList>> {
    check_threads(threads)?;
    let settings = Settings::new(
        dialect,
        choice,
        eof,
        max_event_bytes,
        strict,
        server_tools,
        name_map,
        vendor,
    )?;
    let batch = Batch::new(bodies, |_| PIECE)?;
    let results = many(py, &settings, &batch, threads)?;
    PyList::new(py, results.into_iter().flatten().collect::<Vec<_>>())
}

/// How long a piece of a batch is, in bytes: longer than it takes to wake a thread, short enough that
/// what was decoded is still in the cache when objects are made of it.
const PIECE: usize = 64 * 1024;

/// Who waits longer for the interpreter than this shares it with a thread that computes, and would wait
/// like that after each piece.
const PATIENCE: Duration = Duration::from_millis(1);

/// The messages and errors of bodies, in their order.
fn objects(py: Python<'_>, settings: &Settings, decoded: &[Decoded]) -> PyResult<Vec<Py<PyAny>>> {
    let object = |decoded| match outcome(py, settings, decoded)? {
        Outcome::Message(object) | Outcome::Error(object) => Ok(object.unbind()),
    };
    decoded.iter().map(object).collect()
}

/// A piece of a batch that was decoded, and maybe made into objects too.
enum Piece {
    Decoded(Vec<Decoded>),
    Objects(Vec<Py<PyAny>>),
}

impl Piece {
    fn into_objects(self, py: Python<'_>, settings: &Settings) -> PyResult<Vec<Py<PyAny>>> {
        match self {
            Self::Decoded(decoded) => objects(py, settings, &decoded),
            Self::Objects(objects) => Ok(objects),
        }
    }
}

/// Decodes the pieces of a batch, with the interpreter released; gives the objects of each.
///
/// While threads decode, the caller's own does too, and now and then makes objects of what is done: only one
/// thread can at a time where there is a global lock. Without one every thread makes its own.
fn many(
    py: Python<'_>,
    settings: &Settings,
    batch: &Batch,
    threads: usize,
) -> PyResult<Vec<Vec<Py<PyAny>>>> {
    let decode = |at| -> Vec<Decoded> {
        let one = |(_, body): (usize, &Body)| settings.decoder().decode_message(body.bytes());
        batch.piece(at).map(one).collect()
    };
    if batch.pieces() <= 1 {
        let decoded = py.detach(|| (0..batch.pieces()).flat_map(decode).collect::<Vec<_>>());
        return Ok(vec![objects(py, settings, &decoded)?]);
    }
    let work = |at| -> PyResult<Piece> {
        let decoded = decode(at);
        if cfg!(Py_GIL_DISABLED) {
            return Python::attach(|py| objects(py, settings, &decoded)).map(Piece::Objects);
        }
        Ok(Piece::Decoded(decoded))
    };
    let mut results: Vec<Vec<Py<PyAny>>> = (0..batch.pieces()).map(|_| Vec::new()).collect();
    let mut is_wanted_by_others = false;
    py.detach(|| {
        share(
            batch.pieces(),
            threads,
            work,
            |done, is_last| -> PyResult<()> {
                if is_wanted_by_others && !is_last {
                    return Ok(());
                }
                let asked = Instant::now();
                Python::attach(|py| {
                    is_wanted_by_others |= asked.elapsed() > PATIENCE;
                    py.check_signals()?;
                    for (at, piece) in done.drain(..) {
                        results[at] = piece?.into_objects(py, settings)?;
                    }
                    Ok(())
                })
            },
        )
    })?;
    Ok(results)
}
