//! The extension module `turntape._native`: conversions between Python and [`turntape_core`], nothing else.

mod arguments;
mod arrow;
mod batch;
mod build_facts;
mod classes;
mod data;
mod decoder;
mod encoder;
mod envelopes;
mod errors;
mod events;
mod functions;
mod instance;
mod json_in;
mod json_out;
mod many;
mod markers;
mod messages;
mod pairing;
mod plain_run;
mod redact;
mod row_text;
mod scratch;
mod sse;
mod strings;
mod tape;
mod tape_lines;
mod transcoder;
mod values;

use pyo3::prelude::*;

/// The Rust core behind the public names of turntape.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<sse::SseDecoder>()?;
    module.add_class::<decoder::StreamDecoder>()?;
    module.add_class::<encoder::StreamEncoder>()?;
    module.add_class::<transcoder::Transcoder>()?;
    module.add_class::<redact::SecretMatcher>()?;
    module.add_class::<redact::SecretStream>()?;
    module.add_class::<tape::TapeFile>()?;
    module.add_class::<arrow::ArrowTable>()?;
    module.add_class::<arrow::RowColumns>()?;
    module.add_function(wrap_pyfunction!(build_facts::build_facts, module)?)?;
    module.add_class::<plain_run::PlainForms>()?;
    module.add_function(wrap_pyfunction!(arrow::arrow_schema, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_stream, module)?)?;
    module.add_function(wrap_pyfunction!(tape_lines::read_lines, module)?)?;
    module.add_function(wrap_pyfunction!(row_text::write_line, module)?)?;
    module.add_function(wrap_pyfunction!(pairing::rounds_are_whole, module)?)?;
    module.add_function(wrap_pyfunction!(pairing::calls_are_answered, module)?)?;
    module.add_function(wrap_pyfunction!(plain_run::write_plain_run, module)?)?;
    module.add_function(wrap_pyfunction!(tape::sync_folder, module)?)?;
    module.add_function(wrap_pyfunction!(sse::encode_sse, module)?)?;
    module.add_function(wrap_pyfunction!(encoder::encode, module)?)?;
    module.add_function(wrap_pyfunction!(encoder::encode_response, module)?)?;
    module.add_function(wrap_pyfunction!(functions::decode, module)?)?;
    module.add_function(wrap_pyfunction!(functions::decode_message, module)?)?;
    module.add_function(wrap_pyfunction!(many::decode_many, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::decode_to_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(functions::parse_response, module)?)?;
    module.add_function(wrap_pyfunction!(functions::assemble, module)?)?;
    module.add_function(wrap_pyfunction!(functions::detect_dialect, module)?)?;
    module.add_function(wrap_pyfunction!(functions::error_document, module)?)?;
    module.add_function(wrap_pyfunction!(arguments::check_arguments, module)?)?;
    module.add_function(wrap_pyfunction!(arguments::complete_arguments, module)?)?;
    module.add_function(wrap_pyfunction!(json_in::split_json, module)?)?;
    module.add_function(wrap_pyfunction!(json_in::split_elements, module)?)?;
    module.add_function(wrap_pyfunction!(json_in::split_members, module)?)?;
    module.add_function(wrap_pyfunction!(
        envelopes::encode_assistant_envelope,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(envelopes::encode_tool_envelope, module)?)?;
    module.add_function(wrap_pyfunction!(
        envelopes::parse_assistant_envelope,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(envelopes::parse_tool_envelope, module)?)?;
    module.add_function(wrap_pyfunction!(
        envelopes::parse_canonical_assistant_envelope,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(
        envelopes::parse_canonical_tool_envelope,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(envelopes::explain_not_canonical, module)?)?;
    module.add_function(wrap_pyfunction!(envelopes::extra_content_text, module)?)?;
    module.add_function(wrap_pyfunction!(envelopes::read_extra_content, module)?)?;
    module.add_function(wrap_pyfunction!(envelopes::mend_envelope, module)?)?;
    module.add_function(wrap_pyfunction!(envelopes::row_content, module)?)?;
    module.add_function(wrap_pyfunction!(json_out::write_json, module)?)?;
    module.add_function(wrap_pyfunction!(markers::split_image_parts, module)?)?;
    module.add_function(wrap_pyfunction!(markers::count_image_parts, module)?)?;
    module.add_function(wrap_pyfunction!(markers::has_image_parts, module)?)?;
    Ok(())
}
