//! Durations with units in text: `"250ms"`, `"1m30s"`, `"0s"`.

use super::Micros;

const UNITS: [(&str, i64); 6] =
    [("us", 1), ("µs", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000)];

/// Reads a span such as `250ms`, `1m30s`, `1.5s` or `24h`.
///
/// # Errors
/// A sentence that says what is wrong and what would be right.
pub fn parse_span(text: &str) -> Result<Micros, String> {
    let bad = || format!("`{text}` is not a duration (write it with units, such as \"250ms\", \"1m30s\" or \"24h\")");
    let mut rest = text.trim();
    let mut total = 0f64;
    if rest.is_empty() {
        return Err(bad());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
        let amount: f64 = rest[..digits].parse().map_err(|_| bad())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = UNITS.iter().find(|(name, _)| *name == &rest[..letters]).ok_or_else(bad)?.1;
        total += amount * unit as f64;
        rest = &rest[letters..];
    }
    if total > (1i64 << 53) as f64 {
        return Err(format!("`{text}` is too long"));
    }
    Ok(Micros(total.round() as i64))
}

/// Writes a span so that [`parse_span`] gives it back.
pub fn format_span(span: Micros) -> String {
    let mut left = span.0.max(0);
    if left == 0 {
        return "0s".into();
    }
    let mut text = String::new();
    for (unit, size) in [("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000), ("us", 1)] {
        let amount = left / size;
        left %= size;
        if amount > 0 {
            text.push_str(&format!("{amount}{unit}"));
        }
    }
    text
}

/// `#[serde(with = "units::span")]` for fields that hold a duration with units.
pub mod span {
    use super::{Micros, format_span, parse_span};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// As text with units.
    pub fn serialize<S: Serializer>(span: &Micros, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format_span(*span))
    }

    /// From text with units; a bare number is refused, since nobody knows its unit.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Micros, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            Text(String),
            Number(f64),
        }
        match Given::deserialize(d)? {
            Given::Text(text) => parse_span(&text).map_err(D::Error::custom),
            Given::Number(number) => {
                Err(D::Error::custom(format!("{number} has no unit (write \"{number}ms\" or \"{number}s\")")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_with_units() {
        for (text, us) in [
            ("250ms", 250_000),
            ("1m30s", 90_000_000),
            ("1.5s", 1_500_000),
            ("24h", 86_400_000_000),
            ("0s", 0),
            ("7us", 7),
        ] {
            assert_eq!(parse_span(text), Ok(Micros(us)));
        }
        for text in ["", "5", "ms", "5 parsecs", "-1s", "1..5s", "9999999999h"] {
            assert!(parse_span(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(us in 0i64..(1 << 53)) {
            prop_assert_eq!(parse_span(&format_span(Micros(us))), Ok(Micros(us)));
        }
    }
}
