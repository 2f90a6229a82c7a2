//! Image markers: a text comes back from its parts, and exactly the parts that come back are writable.

#![no_main]

use libfuzzer_sys::fuzz_target;
use turntape_core::image_marker::{
    Part, count_image_parts, find_unwritable, has_image_parts, join_image_parts, split_image_parts,
};

fuzz_target!(|text: &str| {
    let parts: Vec<_> = split_image_parts(text).collect();
    assert_eq!(join_image_parts(&parts), text);
    assert_eq!(find_unwritable(&parts), None);
    let images = parts.iter().filter(|part| matches!(part, Part::Image(_))).count();
    assert_eq!(count_image_parts(text), images);
    assert_eq!(has_image_parts(text), images > 0);

    // Any parts: a line each, images behind an exclamation mark.
    let parts: Vec<_> = text
        .split('\n')
        .map(|line| line.strip_prefix('!').map_or(Part::Text(line), Part::Image))
        .collect();
    let joined = join_image_parts(&parts);
    let comes_back = split_image_parts(&joined).eq(parts.iter().copied());
    assert_eq!(find_unwritable(&parts).is_none(), comes_back);
});
