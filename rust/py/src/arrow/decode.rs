//! `decode_to_arrow`.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::events::{self, EventColumns};
use super::messages::{self, MessageColumns};
use super::table::{ArrowTable, to_python};
use crate::batch::{Batch, check_threads, share};
use crate::data::{Settings, number};

/// Decode many whole bodies of one dialect into columns, the interpreter released meanwhile.
#[pyfunction]
#[pyo3(signature = (bodies, dialect, *, threads = 1, choice = 0, eof = "flush", max_event_bytes = None, strict = false, server_tools = None, name_map = None, vendor = None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
pub(crate) fn decode_to_arrow<'py>(
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
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
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
    let piece = |total: usize| (total / threads / PIECES_A_THREAD).clamp(LEAST_PIECE, MOST_PIECE);
    let batch = Batch::new(bodies, piece)?;
    let (events, messages) = py.detach(|| columns(&settings, &batch, threads))?;
    let class = CLASS.import(py, "turntape.wire.columns", "DecodedTables")?;
    class.call1((
        ArrowTable::new(events::schema(), events),
        ArrowTable::new(messages::schema(), messages),
    ))
}

/// So many pieces for each thread, so that the last ones to be done end together.
const PIECES_A_THREAD: usize = 4;
/// Pieces become batches: too short ones would burden whoever reads them.
const LEAST_PIECE: usize = 1024 * 1024;
/// What is held of a piece beside its batches is small even for long ones; this is how often a call looks
/// whether it was interrupted.
const MOST_PIECE: usize = 16 * 1024 * 1024;

/// Batches of events and of messages.
type Batches = (Vec<RecordBatch>, Vec<RecordBatch>);

fn columns(settings: &Settings, batch: &Batch, threads: usize) -> PyResult<Batches> {
    let mut results: Vec<Batches> = (0..batch.pieces()).map(|_| Batches::default()).collect();
    let work = |at| columns_of(settings, batch, at);
    share(batch.pieces(), threads, work, |done, _| -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            for (at, piece) in done.drain(..) {
                results[at] = piece.map_err(to_python)?;
            }
            Ok(())
        })
    })?;
    let (events, messages): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let join = |batches: Vec<Vec<_>>| batches.into_iter().flatten().collect();
    Ok((join(events), join(messages)))
}

/// Decodes a piece of the batch.
fn columns_of(settings: &Settings, batch: &Batch, piece: usize) -> Result<Batches, ArrowError> {
    let mut events = EventColumns::new();
    let mut messages = MessageColumns::new(settings.dialect, settings.vendor.as_deref());
    for (place, body) in batch.piece(piece) {
        let mut decoder = settings.decoder();
        let mut count = 0;
        let mut reads = body.bytes().chunks(READ);
        loop {
            let read = reads.next().filter(|_| decoder.failure().is_none());
            match read {
                Some(bytes) => decoder.feed(bytes),
                None => decoder.finish(),
            }
            events.push(place, count, decoder.events())?;
            count += decoder.events().len();
            decoder.clear_events();
            if read.is_none() {
                break;
            }
        }
        messages.push(place, &decoder.into_decoded())?;
    }
    Ok((events.finish()?, messages.finish()?))
}

/// How much is decoded before its events go into columns, in bytes: they are in the cache then.
const READ: usize = 64 * 1024;
