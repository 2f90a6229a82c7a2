//! `TapeFile`: the files under a `TranscriptStore`.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use turntape_core::tape::{self, AppendError, Appended, Identity, LockFile};

use crate::{row_text, scratch};

/// How long is slept between two attempts at a lock: at first, and at most.
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// A file that lines are appended to, and the lock file beside it; both opened when they are needed.
#[pyclass(frozen, module = "turntape._native")]
#[derive(Debug)]
pub(crate) struct TapeFile {
    path: PathBuf,
    lock_path: PathBuf,
    // Whoever uses it has a lock of its own: this one only makes sure of that.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lock: Option<LockFile>,
    locked: bool,
    file: Option<tape::TapeFile>,
    torn: bool,
}

#[pymethods]
impl TapeFile {
    #[new]
    fn new(path: PathBuf, lock_path: PathBuf) -> Self {
        Self {
            path,
            lock_path,
            state: Mutex::default(),
        }
    }

    /// Take the lock; return whether it was got in time.
    #[pyo3(signature = (timeout = None, /))]
    fn acquire(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        Ok(self.detached(py, |state| state.acquire(self))? || self.wait(py, timeout)?)
    }

    /// Give the lock back.
    fn release(&self) -> PyResult<()> {
        self.state()?.release().map_err(os_error)
    }

    /// Append a line by one write, with the lock taken for it; return how long the file was and where the
    /// line begins, or None where the lock was not got in time.
    #[pyo3(signature = (line, timeout = None, /))]
    fn append(
        &self,
        py: Python<'_>,
        line: &[u8],
        timeout: Option<f64>,
    ) -> PyResult<Option<(u64, u64)>> {
        // One step without the interpreter where nobody else has the lock.
        let mut appended = self.detached(py, |state| {
            if !state.acquire(self)? {
                return Ok(None);
            }
            state.append_and_release(self, line).map(Some)
        })?;
        if appended.is_none() && self.wait(py, timeout)? {
            appended = Some(self.detached(py, |state| state.append_and_release(self, line))?);
        }
        Ok(appended.map(|appended| (appended.before, appended.start)))
    }

    /// Append the line of a row in one step, if it is one that takes no rules to write and nobody else has
    /// the lock; the file is known up to a place, and where that was its end, its new end is returned.
    #[pyo3(signature = (row, known, longest, /))]
    fn append_row(
        &self,
        row: &Bound<'_, PyAny>,
        known: u64,
        longest: usize,
    ) -> PyResult<Option<u64>> {
        let py = row.py();
        let appended = row_text::with_text(row, |text| {
            scratch::with_bytes(|line| {
                self.detached(py, |state| {
                    text.push(line);
                    if line.len() > longest {
                        return Ok(None);
                    }
                    line.push(b'\n');
                    if !state.acquire(self)? {
                        return Ok(None);
                    }
                    let appended = state.append_and_release(self, line)?;
                    let end = appended.start + line.len() as u64;
                    Ok(Some(if appended.before == known { end } else { known }))
                })
            })
        });
        appended.unwrap_or(Ok(None))
    }

    /// Wait until the disk has what was appended.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, |state| {
            state.file.as_ref().map_or(Ok(()), tape::TapeFile::sync)
        })
    }

    /// Open the file if it is not, or if the path leads elsewhere by now; the lock must be held.
    fn open(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, |state| state.opened(self).map(|_| ()))
    }

    /// Close the file, so that the next append opens what the path leads to then.
    fn forget(&self) -> PyResult<()> {
        self.state()?.file = None;
        Ok(())
    }

    /// Close both files and give the lock back.
    fn close(&self) -> PyResult<()> {
        let mut state = self.state()?;
        let released = state.release();
        state.file = None;
        state.lock = None;
        released.map_err(os_error)
    }

    /// Close both files in a forked process, where the lock is still the parent's.
    fn abandon(&self) -> PyResult<()> {
        let mut state = self.state()?;
        *state = State::default();
        Ok(())
    }

    /// Device and inode of the open file; None where it is closed or the system does not say.
    #[getter]
    fn identity(&self) -> PyResult<Identity> {
        Ok(self
            .state()?
            .file
            .as_ref()
            .and_then(tape::TapeFile::identity))
    }

    /// Whether a failed write left a part of its line behind.
    #[getter]
    fn torn(&self) -> PyResult<bool> {
        Ok(self.state()?.torn)
    }
}

impl TapeFile {
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        // Not waited for: who waits here with the interpreter held would stop whoever has it.
        self.state
            .try_lock()
            .map_err(|_| PyRuntimeError::new_err("another thread is using this file"))
    }

    /// Does something without the interpreter.
    fn detached<T: Send>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut State) -> io::Result<T> + Send,
    ) -> PyResult<T> {
        let mut guard = self.state()?;
        let state = &mut *guard;
        py.detach(|| step(state)).map_err(os_error)
    }

    /// Try again and again until the lock is got or the time is over. Signals are answered meanwhile.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let timeout = timeout
            .map(Duration::try_from_secs_f64)
            .transpose()
            .map_err(|_| PyValueError::new_err("a timeout is a number of seconds, or None"))?;
        let started = Instant::now();
        let mut pause = SHORTEST_PAUSE;
        loop {
            let left = match timeout {
                None => pause,
                Some(timeout) => match timeout.checked_sub(started.elapsed()) {
                    None => return Ok(false),
                    Some(left) => left.min(pause),
                },
            };
            let got = self.detached(py, |state| {
                std::thread::sleep(left);
                state.acquire(self)
            })?;
            if got {
                return Ok(true);
            }
            py.check_signals()?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl State {
    fn acquire(&mut self, paths: &TapeFile) -> io::Result<bool> {
        if self.locked {
            return Ok(true);
        }
        let lock = match &self.lock {
            Some(lock) => lock,
            None => self.lock.insert(LockFile::open(&paths.lock_path)?),
        };
        self.locked = lock.try_lock()?;
        Ok(self.locked)
    }

    fn release(&mut self) -> io::Result<()> {
        match &self.lock {
            Some(lock) if std::mem::take(&mut self.locked) => lock.unlock(),
            _ => Ok(()),
        }
    }

    /// Open the file if it is not, or if the path leads elsewhere by now; give it and its length.
    fn opened(&mut self, paths: &TapeFile) -> io::Result<(&mut tape::TapeFile, u64)> {
        let length = match &self.file {
            Some(file) => file.length_at(&paths.path)?,
            None => None,
        };
        if length.is_none() {
            self.file = None;
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tape::TapeFile::open(&paths.path)?),
        };
        let length = match length {
            Some(length) => length,
            None => file.length()?,
        };
        Ok((file, length))
    }

    fn append_and_release(&mut self, paths: &TapeFile, line: &[u8]) -> io::Result<Appended> {
        let appended = self.append(paths, line);
        // A line that is on the tape is, whatever becomes of the lock: closing gives it back as well.
        if self.release().is_err() {
            self.lock = None;
        }
        appended
    }

    fn append(&mut self, paths: &TapeFile, line: &[u8]) -> io::Result<Appended> {
        let (file, length) = self.opened(paths)?;
        file.append(length, line).map_err(|error| match error {
            AppendError::Undone(cause) => cause,
            AppendError::Torn { cause, undo: _ } => {
                self.torn = true;
                cause
            }
        })
    }
}

/// The exception of the system's error, of the class that its number asks for.
fn os_error(error: io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_owned();
            PyOSError::new_err((number, text))
        }
        None => error.into(),
    }
}

/// Wait until the disk knows what the folder of a file holds.
#[pyfunction]
#[pyo3(signature = (path, /))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "PyO3 makes a path that is owned"
)]
pub(crate) fn sync_folder(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| tape::sync_folder(&path)).map_err(os_error)
}
