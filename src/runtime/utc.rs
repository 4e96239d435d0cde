//! Instants as people read them.

use crate::model::Micros;

/// `2026-12-01T07:45:00.123Z`.
pub fn utc(instant: Micros) -> String {
    let ms = instant.0.div_euclid(1_000);
    let (days, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", of_day % 1_000)
}

/// Year, month and day of the proleptic Gregorian calendar, by walking whole eras of 400 years, then years from March on.
fn civil(days_since_1970: i64) -> (i64, i64, i64) {
    let from_march_of_year_0 = days_since_1970 + 719_468;
    let (era, day_of_era) = (from_march_of_year_0.div_euclid(146_097), from_march_of_year_0.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        for (us, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
            (1_714_521_600_123_456, "2024-05-01T00:00:00.123Z"),
            (4_102_444_799_999_999, "2099-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(utc(Micros(us)), text);
        }
    }
}
