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

/// `$1.25`; small sums with as many digits as they need.
pub fn usd(micros: u64) -> String {
    match micros {
        0 => "$0.00".to_owned(),
        1..10_000 => format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000),
        _ => {
            let cents = micros.saturating_add(5_000) / 10_000;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
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
