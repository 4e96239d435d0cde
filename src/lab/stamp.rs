//! Instants as UTC text.

use crate::model::Micros;

/// `2024-05-01T00:00:00Z`: the proleptic Gregorian calendar (Hinnant's days-to-civil algorithm).
pub fn utc(at: Micros) -> String {
    let seconds = at.0.div_euclid(1_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_values() {
        assert_eq!(utc(Micros::ZERO), "1970-01-01T00:00:00Z");
        assert_eq!(utc(crate::clock::VIRTUAL_EPOCH), "2024-05-01T00:00:00Z");
        assert_eq!(utc(Micros::from_secs(1_709_210_096)), "2024-02-29T12:34:56Z");
    }
}
