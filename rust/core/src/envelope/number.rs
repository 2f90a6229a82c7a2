//! The one spelling of a number.
//!
//! Printers of other versions and languages agree about the shortest digits of a double, and disagree
//! about how they are laid out. So only the digits come from the standard library; the layout is ours.

/// From this power of ten on a double is written with an exponent.
const FIRST_LARGE_EXPONENT: i32 = 16;
/// The smallest power of ten that is written without one.
const LAST_SMALL_EXPONENT: i32 = -5;

/// The text of a finite double: the fewest digits that read back as the same double, as a plain decimal
/// with at least one digit behind the point for zero and magnitudes from 1e-5 up to below 1e16, otherwise
/// with an exponent (`1e-6`, `1e+16`). None for NaN and the infinities.
#[must_use]
pub fn double_text(value: f64) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    // Always `d[.ddd]e[-]x`, shortest digits that round-trip.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (first, others) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut out = String::with_capacity(32);
    if value.is_sign_negative() {
        out.push('-');
    }
    if value == 0.0 {
        out.push_str("0.0");
    } else if (0..FIRST_LARGE_EXPONENT).contains(&exponent) {
        let whole = usize::try_from(exponent).ok()?;
        out.push_str(first);
        if others.len() > whole {
            out.push_str(&others[..whole]);
            out.push('.');
            out.push_str(&others[whole..]);
        } else {
            out.push_str(others);
            out.extend(std::iter::repeat_n('0', whole - others.len()));
            out.push_str(".0");
        }
    } else if (LAST_SMALL_EXPONENT..0).contains(&exponent) {
        out.push_str("0.");
        out.extend((exponent..-1).map(|_| '0'));
        out.push_str(first);
        out.push_str(others);
    } else {
        out.push_str(mantissa);
        out.push('e');
        out.push(if exponent < 0 { '-' } else { '+' });
        out.push_str(&exponent.unsigned_abs().to_string());
    }
    Some(out)
}

/// What a JSON number stands for: an integer from -2^63 to 2^64-1, or else a double.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A negative integer; its text is its one spelling.
    Negative(i64),
    /// Any other integer of that range, likewise.
    Natural(u64),
    /// Any other number, `-0` included. Infinite where it is beyond all doubles.
    Double(f64),
}

impl Number {
    /// Reads a text that is a JSON number.
    #[must_use]
    pub fn read(text: &str) -> Self {
        if text.starts_with('-') {
            // -0 is no integer: it would lose its sign.
            if let Ok(value @ ..=-1) = text.parse() {
                return Self::Negative(value);
            }
        } else if let Ok(value) = text.parse() {
            return Self::Natural(value);
        }
        Self::Double(text.parse().unwrap_or(f64::INFINITY))
    }
}

/// Whether a text that is a JSON number is the one spelling of its value, and free of an exponent.
#[must_use]
pub fn is_canonical_number(text: &str) -> bool {
    match Number::read(text) {
        Number::Negative(_) | Number::Natural(_) => true,
        Number::Double(value) => {
            !text.contains(['e', 'E']) && double_text(value).is_some_and(|printed| printed == text)
        }
    }
}

/// Whether two JSON numbers are the same decimal, to the last digit, whatever doubles they are read as.
pub(super) fn same_decimal(one: &str, other: &str) -> bool {
    decimal(one).is_some_and(|one| Some(one) == decimal(other))
}

/// Sign, digits without zeros at either end, and the power of ten that the first digit stands for. None
/// where the exponent is beyond reason.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.bytes().take_while(|&digit| digit == b'0').count();
    let significant = digits.trim_matches('0');
    if significant.is_empty() {
        return Some((negative, String::new(), 0));
    }
    let point = i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()?;
    Some((
        negative,
        significant.to_owned(),
        exponent.checked_add(point)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::{double_text, is_canonical_number, same_decimal};

    #[test]
    fn doubles_are_laid_out_by_our_own_rule() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (100.0, "100.0"),
            (1234.5, "1234.5"),
            (1e15, "1000000000000000.0"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.234_567_890_123_456_8e17, "1.2345678901234568e+17"),
            (f64::MAX, "1.7976931348623157e+308"),
            (0.1, "0.1"),
            (0.000_123_4, "0.0001234"),
            (0.000_01, "0.00001"),
            (-0.000_015, "-0.000015"),
            (0.000_001_5, "1.5e-6"),
            (5e-324, "5e-324"),
        ];
        for (value, text) in cases {
            assert_eq!(double_text(value).as_deref(), Some(text));
            assert_eq!(is_canonical_number(text), !text.contains('e'), "{text}");
        }
        assert_eq!(double_text(f64::NAN), None);
        assert_eq!(double_text(f64::NEG_INFINITY), None);
    }

    #[test]
    fn only_one_spelling_is_canonical() {
        for text in ["0", "-1", "18446744073709551615", "-9223372036854775808"] {
            assert!(is_canonical_number(text), "{text}");
        }
        for text in [
            "-0",
            "18446744073709551616",
            "-9223372036854775809",
            "1e2",
            "1E+16",
            "1e400",
            "1.10",
            "0.10000000000000000555",
            "12345678901234567.0",
            "0.000001",
        ] {
            assert!(!is_canonical_number(text), "{text}");
        }
    }

    #[test]
    fn decimals_are_compared_exactly() {
        for (one, other) in [
            ("1e2", "100.0"),
            ("1.10", "1.1"),
            ("-0", "-0.0"),
            ("0.00e7", "0.0"),
            ("1200", "1.2E+3"),
            ("0.0012", "1.2e-3"),
        ] {
            assert!(same_decimal(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("0", "-0"),
            ("18446744073709551616", "1.8446744073709552e+19"),
            ("0.10000000000000000555", "0.1"),
            ("1e99999999999999999999", "1e99999999999999999998"),
        ] {
            assert!(!same_decimal(one, other), "{one} {other}");
        }
    }
}
