//! Instances of frozen, slotted dataclasses, made without calling their class: about a quarter of the
//! time of a call. The only unsafe code of the project.

#![expect(
    unsafe_code,
    reason = "the C API has no safe way to fill the slots of a frozen dataclass"
)]

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// A slotted dataclass: its type and the member descriptors of its slots, in the order of its fields.
#[derive(Debug)]
pub(crate) struct Class<const FIELDS: usize> {
    class: Py<PyType>,
    slots: [Slot; FIELDS],
}

#[derive(Debug)]
struct Slot {
    descriptor: Py<PyAny>,
    set: ffi::descrsetfunc,
}

impl<const FIELDS: usize> Class<FIELDS> {
    /// Looks up the class and its slots.
    ///
    /// # Errors
    /// `TypeError` if one of the fields is no slot of the class.
    pub(crate) fn new(class: &Bound<'_, PyType>, fields: [&str; FIELDS]) -> PyResult<Self> {
        let py = class.py();
        let dict = class.getattr("__dict__")?;
        let mut slots = Vec::with_capacity(FIELDS);
        for field in fields {
            let descriptor = dict.get_item(PyString::new(py, field))?;
            let kind = descriptor.get_type();
            if kind.name()? != "member_descriptor" {
                return Err(PyTypeError::new_err(format!(
                    "{field} is no slot of {class}"
                )));
            }
            // SAFETY: `kind` is a live type object, and the slot number is one of the limited API's.
            // The result is null or the type's `tp_descr_set`, which has the type `descrsetfunc` by the
            // definition of `Py_tp_descr_set`.
            let set: Option<ffi::descrsetfunc> = unsafe {
                std::mem::transmute(ffi::PyType_GetSlot(
                    kind.as_type_ptr(),
                    ffi::Py_tp_descr_set,
                ))
            };
            let set =
                set.ok_or_else(|| PyTypeError::new_err("member descriptors cannot be set"))?;
            slots.push(Slot {
                descriptor: descriptor.unbind(),
                set,
            });
        }
        let slots = slots
            .try_into()
            .map_err(|_| PyTypeError::new_err("a field is missing"))?;
        Ok(Self {
            class: class.clone().unbind(),
            slots,
        })
    }

    /// Whether `object` is an instance of exactly this class.
    pub(crate) fn is_exact(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.class.as_ptr().cast()
    }

    /// A new instance with these values, in the order of the fields.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn make<'py>(
        &self,
        py: Python<'py>,
        values: [Bound<'py, PyAny>; FIELDS],
    ) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the class is a live heap type made by `@dataclass(slots=True)`: it has no `__new__` and
        // no base but `object`, so `object.__new__` would do just this allocation, which clears the slots
        // and lets the collector track the instance. The result is a new reference, or null with an
        // exception set, which `from_owned_ptr_or_err` tells apart.
        let instance = unsafe {
            let object = ffi::PyType_GenericAlloc(self.class.as_ptr().cast(), 0);
            Bound::from_owned_ptr_or_err(py, object)?
        };
        for (slot, value) in self.slots.iter().zip(values) {
            // SAFETY: `set` is the `tp_descr_set` of the descriptor's own type, all three objects are
            // alive, and the function takes its own reference to the value. It checks by itself that the
            // instance is one of the descriptor's class.
            let status =
                unsafe { (slot.set)(slot.descriptor.as_ptr(), instance.as_ptr(), value.as_ptr()) };
            if status != 0 {
                return Err(PyErr::fetch(py));
            }
        }
        Ok(instance)
    }
}
