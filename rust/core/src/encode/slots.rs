//! What a voice keeps of the blocks that are open, by the index of their events.

/// A value an open block.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    open: Vec<Option<T>>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub(crate) fn put(&mut self, index: usize, value: T) {
        if self.open.len() <= index {
            self.open.resize_with(index + 1, || None);
        }
        self.open[index] = Some(value);
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.open.get_mut(index)?.as_mut()
    }

    pub(crate) fn take(&mut self, index: usize) -> Option<T> {
        self.open.get_mut(index)?.take()
    }
}
