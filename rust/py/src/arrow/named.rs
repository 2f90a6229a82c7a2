//! Columns whose values come from a short list of names: a byte a row.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::Int8Builder;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, StringArray};
use arrow_schema::{ArrowError, DataType};

/// An array of names, at most 127, made when it is first needed.
pub(super) type Names = LazyLock<ArrayRef>;

/// The array of these names.
pub(super) fn names(list: &[&'static str]) -> ArrayRef {
    Arc::new(StringArray::from(list.to_vec()))
}

/// The type of such a column.
pub(super) fn named_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
}

/// A column of names, of which any may be null.
pub(super) struct NamedColumn {
    names: &'static Names,
    keys: Int8Builder,
}

impl NamedColumn {
    pub(super) fn new(names: &'static Names) -> Self {
        Self {
            names,
            keys: Int8Builder::new(),
        }
    }

    /// Adds the name at that place of the list.
    pub(super) fn push(&mut self, place: Option<i8>) {
        self.keys.append_option(place);
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        named(self.keys.finish(), self.names)
    }
}

/// A column of the names at these places of a list.
pub(super) fn named(keys: Int8Array, names: &'static Names) -> Result<ArrayRef, ArrowError> {
    let column = DictionaryArray::<Int8Type>::try_new(keys, Arc::clone(names))?;
    Ok(Arc::new(column))
}
