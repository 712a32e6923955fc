//! Words about figures: tokens, dollars, times.

use crate::base::usage::Usage;

/// `1 token`, `1,200 tokens`.
pub fn tokens(count: u64) -> String {
    if count == 1 { "1 token".to_owned() } else { format!("{} tokens", thousands(count)) }
}

/// Tokens and dollars; a price that is not known is said, never taken as zero.
pub fn spent(usage: &Usage) -> String {
    let tokens = tokens(usage.tokens());
    let dollars = usd(usage.usd_micros);
    match (usage.unpriced, usage.usd_micros) {
        (false, 0) => tokens,
        (false, _) if usage.estimated => format!("{tokens}, about {dollars}"),
        (false, _) => format!("{tokens}, {dollars}"),
        (true, 0) => format!("{tokens}, cost unknown"),
        (true, _) => format!("{tokens}, at least {dollars}"),
    }
}

/// `$1.25`: rounded to cents. Below a cent two significant digits: `$0.0051`, `$0.005`.
pub fn usd(micros: u64) -> String {
    let unit = match micros {
        0..100 => 1,
        100..1_000 => 10,
        1_000..10_000 => 100,
        _ => 10_000,
    };
    // Two digits that count, also for amounts below a cent: `$0.00` would read as free.
    let rounded = micros.saturating_add(unit / 2) / unit * unit;
    let text = format!("${}.{:06}", rounded / 1_000_000, rounded % 1_000_000);
    // Keep both digits of the cents, and drop trailing zeros behind them.
    let cents = text.len() - 4;
    let (cents, below) = text.split_at(cents);
    format!("{cents}{}", below.trim_end_matches('0'))
}

/// A number with separators: `12,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// An age in one unit: `40 s`, `5 min`, `3 h`, `2 days`, `6 weeks`, `4 months`, `10 years`.
pub fn age(ms: u64) -> String {
    const HOUR: u64 = 3_600;
    const DAY: u64 = 24 * HOUR;
    let seconds = ms / 1_000;
    let many = |count: u64, unit: &str| match count {
        1 => format!("1 {unit}"),
        count => format!("{} {unit}s", thousands(count)),
    };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..HOUR => format!("{} min", seconds / 60),
        // Up to two of the larger unit: `1 day` would hide whether it is 25 hours or 47.
        HOUR..172_800 => format!("{} h", seconds / HOUR),
        172_800..1_209_600 => many(seconds / DAY, "day"),
        1_209_600..5_184_000 => many(seconds / (7 * DAY), "week"),
        5_184_000..63_072_000 => many(seconds / (30 * DAY), "month"),
        _ => many(seconds / (365 * DAY), "year"),
    }
}

/// `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 05 min`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}
