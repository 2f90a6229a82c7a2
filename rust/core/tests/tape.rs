//! The files of a tape: locks, and appends that are whole or undone.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use turntape_core::tape::{Appended, LockFile, TapeFile, sync_folder};

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("turntape-tape-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn append(file: &mut TapeFile, path: &Path, line: &str) -> Appended {
    let length = file.length_at(path).unwrap().expect("it is not replaced");
    file.append(length, line.as_bytes()).unwrap()
}

#[test]
fn a_lock_is_held_by_one_at_a_time() {
    let folder = Folder::new();
    let path = folder.path("lock");
    let (first, second) = (
        LockFile::open(&path).unwrap(),
        LockFile::open(&path).unwrap(),
    );
    assert!(first.try_lock().unwrap());
    assert!(!second.try_lock().unwrap());
    first.unlock().unwrap();
    assert!(second.try_lock().unwrap());
    drop(second);
    assert!(first.try_lock().unwrap());
}

#[test]
fn a_torn_line_is_ended_first() {
    let folder = Folder::new();
    let path = folder.path("tape");
    let mut file = TapeFile::open(&path).unwrap();
    let at = |before, start| Appended { before, start };
    assert_eq!(append(&mut file, &path, "one\n"), at(0, 0));
    assert_eq!(append(&mut file, &path, "two\n"), at(4, 4));
    // Somebody else died while it wrote.
    fs::write(&path, "one\ntwo\nth").unwrap();
    assert_eq!(append(&mut file, &path, "four\n"), at(10, 11));
    assert_eq!(append(&mut file, &path, "five\n"), at(16, 16));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "one\ntwo\nth\nfour\nfive\n"
    );
    file.sync().unwrap();
    sync_folder(&path).unwrap();
    let mut again = TapeFile::open(&path).unwrap();
    fs::write(&path, "\0\0\0").unwrap();
    assert_eq!(append(&mut again, &path, "six\n"), at(3, 4));
}

#[cfg(unix)]
#[test]
fn a_file_that_was_replaced_is_noticed() {
    let folder = Folder::new();
    let (path, other) = (folder.path("tape"), folder.path("other"));
    let file = TapeFile::open(&path).unwrap();
    assert_eq!(file.length_at(&path).unwrap(), Some(0));
    fs::write(&other, "new\n").unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(file.length_at(&path).unwrap(), None);
    let file = TapeFile::open(&path).unwrap();
    assert_eq!(file.length_at(&path).unwrap(), Some(4));
    fs::remove_file(&path).unwrap();
    assert_eq!(file.length_at(&path).unwrap(), None);
    assert_eq!(file.length().unwrap(), 4);
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    TapeFile::open(&folder.path("tape")).unwrap();
    LockFile::open(&folder.path("lock")).unwrap();
    for name in ["tape", "lock"] {
        let mode = fs::metadata(folder.path(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    assert!(TapeFile::open(&folder.0).is_err());
    assert!(TapeFile::open(&folder.path("none/tape")).is_err());
    assert!(LockFile::open(&folder.0).is_err());
}
