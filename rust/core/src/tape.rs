//! The files of a tape: the lock beside it, and appends that are whole or undone.
//!
//! Nothing in here knows what a line holds. Who appends holds the lock; every function says so where it
//! matters, because a lock that is taken twice is one that is forgotten once.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

#[cfg(not(unix))]
use std::io::{Read, Seek, SeekFrom};

/// A lock on a whole file, between processes, by the operating system.
///
/// The file is never removed: a process that waits for a removed file would hold a lock that nobody else
/// can see. Dropping it gives the lock back, unless a forked process has inherited the file; [`unlock`]
/// does so in every case.
///
/// [`unlock`]: LockFile::unlock
#[derive(Debug)]
pub struct LockFile(File);

impl LockFile {
    /// Opens the file, and makes it where it is not there, for its owner alone.
    ///
    /// # Errors
    ///
    /// The system refused.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        for_the_owner(&mut options);
        options.open(path).map(Self)
    }

    /// Takes the lock if nobody has it.
    ///
    /// # Errors
    ///
    /// The system refused, as some network file systems do.
    pub fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Gives the lock back.
    ///
    /// # Errors
    ///
    /// The system refused.
    pub fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

/// What tells files apart: device and inode. `None` where the standard library does not say.
pub type Identity = Option<(u64, u64)>;

/// Why nothing was appended.
#[derive(Debug)]
pub enum AppendError {
    /// The file is as it was before.
    Undone(io::Error),
    /// A part of the line may be in the file: it could not be removed.
    Torn {
        /// Why the write failed.
        cause: io::Error,
        /// Why it could not be undone.
        undo: io::Error,
    },
}

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// How long the file was.
    pub before: u64,
    /// Where the line begins: there, or one further where a torn line was ended first.
    pub start: u64,
}

/// A file that lines are appended to.
#[derive(Debug)]
pub struct TapeFile {
    file: File,
    identity: Identity,
    /// How long the file was after the last line that was appended here, which ended with LF.
    end: Option<u64>,
}

impl TapeFile {
    /// Opens the file, and makes it where it is not there, for its owner alone; then its folder is synced,
    /// so that a power cut does not take the file away.
    ///
    /// # Errors
    ///
    /// The system refused, or it is no regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        #[cfg(unix)]
        options.append(true);
        for_the_owner(&mut options);
        // What another process makes or removes in between is seen at the next turn.
        let mut turns = 0;
        let file = loop {
            turns += 1;
            match options.open(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                opened => break opened?,
            }
            match options.clone().create_new(true).open(path) {
                Ok(file) => {
                    sync_folder(path)?;
                    break file;
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && turns < 100 => {}
                Err(error) => return Err(error),
            }
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            let message = "it is no regular file";
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        }
        let identity = identity_of(&metadata);
        Ok(Self {
            file,
            identity,
            end: None,
        })
    }

    /// Device and inode of the open file.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// How long the file is, by one question to the system; `None` where the path leads to another file by
    /// now, or to none. Where the system tells no identity, the path is believed.
    ///
    /// # Errors
    ///
    /// The system refused.
    pub fn length_at(&self, path: &Path) -> io::Result<Option<u64>> {
        match look(path) {
            Ok((identity, length)) => Ok((identity == self.identity).then_some(length)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How long the file is.
    ///
    /// # Errors
    ///
    /// The system refused.
    pub fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Appends a line, which ends with its LF, by one write, to a file that is so long; the lock must be
    /// held since that was asked for.
    ///
    /// Where the file does not end with LF, one goes first, so that a torn line stands alone. A short or
    /// failed write is undone by truncating the file to the length that it had.
    ///
    /// # Errors
    ///
    /// Nothing was appended, or what was could not be removed.
    pub fn append(&mut self, before: u64, line: &[u8]) -> Result<Appended, AppendError> {
        // Others change what is before the end of the file as little as they change the file's place.
        let whole = before == 0
            || self.end == Some(before)
            || self.last_byte(before).map_err(AppendError::Undone)? == b'\n';
        let written = if whole {
            self.write(before, line)
        } else {
            let mut both = Vec::with_capacity(line.len() + 1);
            both.push(b'\n');
            both.extend_from_slice(line);
            self.write(before, &both)
        };
        match written {
            Ok(()) => {
                let start = before + u64::from(!whole);
                self.end = Some(start + line.len() as u64);
                Ok(Appended { before, start })
            }
            Err(cause) => Err(match self.file.set_len(before) {
                Ok(()) => AppendError::Undone(cause),
                Err(undo) => AppendError::Torn { cause, undo },
            }),
        }
    }

    /// Waits until the disk has what was written.
    ///
    /// # Errors
    ///
    /// The system refused. What was written since the last success may be lost, and another attempt that
    /// succeeds says nothing about it.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    #[cfg(unix)]
    fn last_byte(&self, length: u64) -> io::Result<u8> {
        use std::os::unix::fs::FileExt;

        let mut last = [0];
        self.file.read_exact_at(&mut last, length - 1)?;
        Ok(last[0])
    }

    #[cfg(not(unix))]
    fn last_byte(&self, length: u64) -> io::Result<u8> {
        let mut last = [0];
        (&self.file).seek(SeekFrom::Start(length - 1))?;
        (&self.file).read_exact(&mut last)?;
        Ok(last[0])
    }

    /// One write. After a short one the rest is tried, only to learn why it was short: the caller undoes both.
    fn write(&self, before: u64, line: &[u8]) -> io::Result<()> {
        // Windows has no mode that appends and can also truncate.
        #[cfg(not(unix))]
        (&self.file).seek(SeekFrom::Start(before))?;
        #[cfg(unix)]
        let _ = before;
        let count = loop {
            match (&self.file).write(line) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        if count == line.len() {
            return Ok(());
        }
        let length = line.len();
        (&self.file).write_all(&line[count..])?;
        Err(io::Error::other(format!(
            "only {count} of {length} bytes were written"
        )))
    }
}

/// Makes new files readable and writable for their owner alone, where the system knows that.
fn for_the_owner(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// What the path leads to, and how long it is.
fn look(path: &Path) -> io::Result<(Identity, u64)> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};

        let asked = StatxFlags::INO | StatxFlags::SIZE;
        // Where this call is refused, the standard library knows another; it also says why there is none.
        if let Ok(found) = statx(CWD, path, AtFlags::empty(), asked)
            && StatxFlags::from_bits_retain(found.stx_mask).contains(asked)
        {
            let device = makedev(found.stx_dev_major, found.stx_dev_minor);
            return Ok((Some((device, found.stx_ino)), found.stx_size));
        }
    }
    let metadata = fs::metadata(path)?;
    Ok((identity_of(&metadata), metadata.len()))
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems do not tell what makes a file the same"
)]
fn identity_of(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;

    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity_of(_: &fs::Metadata) -> Identity {
    None
}

/// Waits until the disk knows what the folder of a file holds. Windows has no such call.
///
/// # Errors
///
/// The system refused.
pub fn sync_folder(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(())
    }
}
