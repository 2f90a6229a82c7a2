//! Image markers in Python's strings.

use std::convert::Infallible;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString, PyType};
use turntape_core::image_marker::{
    self, IMAGE_MARKER_END, IMAGE_MARKER_PREFIX, Search, Span, Spans, Utf8,
};

use crate::envelopes::released;
use crate::instance::Class;
use crate::values;

type Object<'py> = Bound<'py, PyAny>;

/// The classes of `turntape.replay.markers`, with their constant `type`.
struct Classes {
    text: Class<2>,
    text_tag: Py<PyString>,
    image: Class<2>,
    image_tag: Py<PyString>,
}

fn classes(py: Python<'_>) -> PyResult<&'static Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import("turntape.replay.markers")?;
        let class = |name: &str| -> PyResult<Bound<'_, PyType>> {
            Ok(module.getattr(name)?.cast_into::<PyType>()?)
        };
        Ok(Classes {
            text: Class::new(&class("TextPart")?, ["type", "text"])?,
            text_tag: PyString::intern(py, "text").unbind(),
            image: Class::new(&class("ImagePart")?, ["type", "url"])?,
            image_tag: PyString::intern(py, "image").unbind(),
        })
    })
}

/// Searches a string in its own form, whatever characters it holds: turning it into UTF-8 would cost more
/// than the search.
struct Characters<'a, 'py> {
    text: &'a Bound<'py, PyString>,
    length: usize,
    prefix: Bound<'py, PyString>,
    end: Bound<'py, PyString>,
}

impl<'a, 'py> Characters<'a, 'py> {
    fn new(text: &'a Bound<'py, PyString>) -> PyResult<Self> {
        let py = text.py();
        Ok(Self {
            text,
            length: text.len()?,
            prefix: intern!(py, IMAGE_MARKER_PREFIX).clone(),
            end: PyString::intern(py, IMAGE_MARKER_END.encode_utf8(&mut [0; 4])),
        })
    }

    fn find(&self, what: &Bound<'py, PyString>, from: usize) -> PyResult<Option<usize>> {
        let found = self
            .text
            .call_method1(intern!(self.text.py(), "find"), (what, from))?;
        // -1 where there is none.
        Ok(usize::try_from(found.extract::<isize>()?).ok())
    }
}

impl Search for Characters<'_, '_> {
    type Error = PyErr;

    fn length(&self) -> usize {
        self.length
    }

    fn prefix(&mut self, from: usize) -> PyResult<Option<usize>> {
        self.find(&self.prefix, from)
    }

    fn end(&mut self, from: usize) -> PyResult<Option<usize>> {
        self.find(&self.end, from)
    }
}

/// The string itself, or where it is of a subclass, which may do what it likes, a plain one.
fn plain<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    if text.is_exact_instance_of::<PyString>() {
        return Ok(text.clone());
    }
    let py = text.py();
    let copy = py
        .get_type::<PyString>()
        .call_method1(intern!(py, "__str__"), (text,))?;
    Ok(copy.cast_into::<PyString>()?)
}

/// The text if it is ASCII, and so the same in UTF-8.
fn ascii<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Option<&'a str>> {
    let py = text.py();
    if text.call_method0(intern!(py, "isascii"))?.is_truthy()? {
        return text.to_str().map(Some);
    }
    Ok(None)
}

fn text_part<'py>(py: Python<'py>, classes: &Classes, text: Object<'py>) -> PyResult<Object<'py>> {
    let tag = classes.text_tag.bind(py).clone().into_any();
    classes.text.make(py, [tag, text])
}

fn image_part<'py>(py: Python<'py>, classes: &Classes, url: Object<'py>) -> PyResult<Object<'py>> {
    let tag = classes.image_tag.bind(py).clone().into_any();
    classes.image.make(py, [tag, url])
}

/// Cut a text into its text and image parts.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn split_image_parts<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
    let py = text.py();
    let text = plain(text)?;
    let classes = classes(py)?;
    let list = PyList::empty(py);
    if let Some(source) = ascii(&text)? {
        let spans = released(py, source, |source| {
            let mut spans = Spans::new(Utf8(source));
            let next = || {
                let Ok(span): Result<_, Infallible> = spans.next_span();
                span
            };
            std::iter::from_fn(next).collect::<Vec<_>>()
        });
        for span in spans {
            list.append(match span {
                Span::Text(range) if range.len() == source.len() => {
                    text_part(py, classes, text.clone().into_any())?
                }
                Span::Text(range) => {
                    text_part(py, classes, PyString::new(py, &source[range]).into_any())?
                }
                Span::Image(range) => {
                    image_part(py, classes, PyString::new(py, &source[range]).into_any())?
                }
            })?;
        }
        return Ok(list);
    }
    let mut spans = Spans::new(Characters::new(&text)?);
    while let Some(span) = spans.next_span()? {
        list.append(match span {
            Span::Text(range) => text_part(py, classes, values::slice(&text, range)?)?,
            Span::Image(range) => image_part(py, classes, values::slice(&text, range)?)?,
        })?;
    }
    Ok(list)
}

/// Count the images in a text.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn count_image_parts(text: &Bound<'_, PyString>) -> PyResult<usize> {
    let py = text.py();
    let text = plain(text)?;
    if let Some(source) = ascii(&text)? {
        return Ok(released(py, source, image_marker::count_image_parts));
    }
    let mut spans = Spans::new(Characters::new(&text)?);
    let mut count = 0;
    while spans.next_image()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Tell whether a text holds an image.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn has_image_parts(text: &Bound<'_, PyString>) -> PyResult<bool> {
    let py = text.py();
    let text = plain(text)?;
    if let Some(source) = ascii(&text)? {
        return Ok(released(py, source, image_marker::has_image_parts));
    }
    let found = Spans::new(Characters::new(&text)?).next_image()?;
    Ok(found.is_some())
}
