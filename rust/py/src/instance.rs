//! Instances of frozen, slotted dataclasses, made without calling their class, about a seventh of the
//! time of a call, and read without looking up their fields. The only unsafe code of the project.

#![expect(
    unsafe_code,
    reason = "the C API has no safe way to fill the slots of a frozen dataclass"
)]

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// A slotted dataclass: its type, and where its instances keep their fields.
#[derive(Debug)]
pub(crate) struct Class<const FIELDS: usize> {
    kind: Py<PyType>,
    /// For each field, in the order given to [`Class::new`], the offset of its slot in words.
    slots: [usize; FIELDS],
    names: [Py<PyString>; FIELDS],
    /// Whether slots may be read where they are: whoever has the interpreter has it alone.
    is_locked: bool,
}

impl<const FIELDS: usize> Class<FIELDS> {
    /// Finds out where the class keeps its fields, by setting each one, through its descriptor, in an
    /// instance of its own and looking where the value went.
    ///
    /// # Errors
    /// `TypeError` if one of the fields is no slot of the class, or if the class is not made by
    /// `@dataclass(slots=True)` over `object` and classes that add methods alone.
    pub(crate) fn new(class: &Bound<'_, PyType>, fields: [&str; FIELDS]) -> PyResult<Self> {
        let py = class.py();
        let unfit = |what: &str| PyTypeError::new_err(format!("{class} {what}"));
        let dict = class.getattr("__dict__")?;
        let object = py.get_type::<PyAny>();
        let size_of_object = object.getattr("__basicsize__")?.extract::<usize>()?;
        for ancestor in class.mro() {
            if ancestor.is(&object) {
                continue;
            }
            let adds_state = !ancestor.is(class)
                && ancestor.getattr("__basicsize__")?.extract::<usize>()? != size_of_object;
            if adds_state || ancestor.getattr("__dict__")?.contains("__new__")? {
                return Err(unfit("is not made like a plain dataclass"));
            }
        }
        if class.getattr("__dictoffset__")?.extract::<isize>()? != 0
            || class.getattr("__itemsize__")?.extract::<isize>()? != 0
        {
            return Err(unfit("has instances of no fixed layout"));
        }
        let words = class.getattr("__basicsize__")?.extract::<usize>()? / size_of::<usize>();
        let probe = object.call_method1("__new__", (class,))?;
        let mut slots = [0; FIELDS];
        for (slot, field) in slots.iter_mut().zip(fields) {
            let descriptor = dict.get_item(PyString::new(py, field))?;
            if descriptor.get_type().name()? != "member_descriptor" {
                return Err(unfit(&format!("has no slot {field}")));
            }
            // A fresh object, whose address stands nowhere in the instance before it is set.
            let value = pyo3::types::PyList::empty(py);
            descriptor.call_method1("__set__", (&probe, &value))?;
            // SAFETY: `probe` is alive and its memory is at least `__basicsize__` bytes from its start,
            // because its type has neither items nor a managed dictionary, and word-aligned, as all
            // objects are. Every word of it may be read as an integer: the allocator cleared it.
            *slot = (0..words)
                .find(|&word| unsafe { probe.as_ptr().cast::<usize>().add(word).read() } == value.as_ptr().addr())
                .ok_or_else(|| unfit(&format!("keeps {field} elsewhere")))?;
        }
        Ok(Self {
            kind: class.clone().unbind(),
            slots,
            names: fields.map(|field| PyString::intern(py, field).unbind()),
            // Interpreters without a global lock keep more than a count and a type in an object.
            is_locked: size_of_object == 2 * size_of::<usize>(),
        })
    }

    /// The class.
    pub(crate) fn class<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyType> {
        self.kind.bind(py)
    }

    /// Whether `object` is an instance of exactly this class.
    pub(crate) fn is_exact(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.kind.as_ptr().cast()
    }

    /// A new instance with these values, in the order of the fields.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(crate) fn make<'py>(
        &self,
        py: Python<'py>,
        values: [Bound<'py, PyAny>; FIELDS],
    ) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the class is a live heap type that was checked to have no `__new__`, of its own or
        // from an ancestor but `object`, and no ancestor with state, so `object.__new__` would do just
        // this allocation, which clears the slots and lets the collector track the instance. The result
        // is a new reference, or null with an exception set, which `from_owned_ptr_or_err` tells apart.
        let instance = unsafe {
            let object = ffi::PyType_GenericAlloc(self.kind.as_ptr().cast(), 0);
            Bound::from_owned_ptr_or_err(py, object)?
        };
        for (slot, value) in self.slots.iter().zip(values) {
            // SAFETY: the slot lies within the instance (`Class::new` found it below `__basicsize__`) and
            // is the one that the field's descriptor writes. It is null so far, so nothing is overwritten
            // that would have to be released; the reference that `into_ptr` gives up is what the slot
            // owns from now on, to be released by the type's own deallocator. No other thread knows the
            // instance yet, but for the collector, which reads slots with the interpreter's lock held or,
            // without one, with all threads stopped.
            unsafe {
                instance
                    .as_ptr()
                    .cast::<*mut ffi::PyObject>()
                    .add(*slot)
                    .write(value.into_ptr());
            }
        }
        Ok(instance)
    }

    /// What an instance of exactly this class holds in some fields, by their place in the order given to
    /// [`Class::new`]; None for any other object, and in the place of a field that was never set.
    #[inline]
    pub(crate) fn pick<'py, const SOME: usize>(
        &self,
        object: &Bound<'py, PyAny>,
        fields: [usize; SOME],
    ) -> Option<[Option<Bound<'py, PyAny>>; SOME]> {
        self.is_exact(object)
            .then(|| fields.map(|field| self.slot(object, field)))
    }

    /// The same of all fields, in their order.
    #[inline]
    pub(crate) fn read<'py>(
        &self,
        object: &Bound<'py, PyAny>,
    ) -> Option<[Option<Bound<'py, PyAny>>; FIELDS]> {
        self.is_exact(object)
            .then(|| std::array::from_fn(|field| self.slot(object, field)))
    }

    /// What stands in the slot of a field of an object that is exactly of this class.
    #[inline]
    fn slot<'py>(&self, object: &Bound<'py, PyAny>, field: usize) -> Option<Bound<'py, PyAny>> {
        debug_assert!(self.is_exact(object));
        let py = object.py();
        if !self.is_locked {
            // Such slots can be set meanwhile; the descriptors know how to read them.
            return object.getattr(self.names[field].bind(py)).ok();
        }
        // SAFETY: the object is alive and of exactly this class, which both callers found out, so that each
        // slot lies within it (`Class::new` found it below `__basicsize__`), is aligned, and holds null or a
        // reference that the object owns. Nothing changes it before `from_borrowed_ptr_or_opt` has taken a
        // reference of its own: `object` proves that this thread has the interpreter, which has a global lock.
        unsafe {
            let value = object
                .as_ptr()
                .cast::<*mut ffi::PyObject>()
                .add(self.slots[field])
                .read();
            Bound::from_borrowed_ptr_or_opt(py, value)
        }
    }
}
