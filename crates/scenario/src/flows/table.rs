//! A cumulative distribution of sizes as a table, such as simulators of data centres have in files.

use tidegate_link::{ParseError, Recording};

/// Most points.
const MOST: usize = 100_000;

/// The largest size in bytes.
const LARGEST: f64 = 1e12;

/// What a line should be.
const EXPECTED: &str = "two numbers, bytes (0 to 1e12) and the share of flows that have no more";

/// Points of a cumulative distribution, between which it rises in straight lines.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    /// Bytes, and the share of flows that have no more: neither ever falls, and the last share is 1.
    points: Vec<(f64, f64)>,
}

impl SizeTable {
    /// Of points that are in order.
    pub(super) fn of(points: Vec<(f64, f64)>) -> Self {
        Self { points }
    }

    /// The size that `share` of all flows do not exceed, in bytes. As many as the first point has are as large as that.
    pub fn quantile(&self, share: f64) -> f64 {
        let above = self.points.partition_point(|point| point.1 < share);
        match (
            above.checked_sub(1).map(|n| self.points[n]),
            self.points.get(above),
        ) {
            (Some((low, from)), Some(&(high, to))) => {
                low + (high - low) * (share - from) / (to - from)
            }
            (None, Some(&(first, _))) => first,
            (Some((last, _)), None) => last,
            (None, None) => 0.0,
        }
    }

    /// The mean in bytes.
    pub fn mean(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |point| point.0 * point.1);
        let pairs = self.points.windows(2);
        let between = pairs.map(|w| (w[1].1 - w[0].1) * (w[0].0 + w[1].0) / 2.0);
        first + between.sum::<f64>()
    }
}

/// A point of a file, with the line on which it stands.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    number: usize,
    bytes: f64,
    share: f64,
}

impl Recording for SizeTable {
    type Lines = Vec<Line>;

    fn line(lines: &mut Vec<Line>, number: usize, text: &str) -> Result<(), ParseError> {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            return Ok(());
        }
        let line = point(number, text)?;
        if let Some(last) = lines.last() {
            rises(last, &line)?;
        }
        if lines.len() == MOST {
            return Err(wrong(
                number,
                format!("expected at most {MOST} points, found more"),
            ));
        }
        lines.push(line);
        Ok(())
    }

    fn end(lines: Vec<Line>, count: usize) -> Result<Self, ParseError> {
        let Some(last) = lines.last() else {
            let message = "expected a point at least, found none".to_owned();
            return Err(wrong(count.max(1), message));
        };
        let whole = last.share;
        if whole != 1.0 && whole != 100.0 {
            let message = format!(
                "the last share is {whole}, expected 1 (shares from 0 to 1) or 100 (in per cent)"
            );
            return Err(wrong(last.number, message));
        }
        if last.bytes < 1.0 {
            let message = format!(
                "the largest flow has {} bytes, expected 1 or more",
                last.bytes
            );
            return Err(wrong(last.number, message));
        }
        let points = lines.iter();
        Ok(Self::of(
            points
                .map(|line| (line.bytes, line.share / whole))
                .collect(),
        ))
    }
}

fn wrong(line: usize, message: String) -> ParseError {
    ParseError { line, message }
}

fn point(number: usize, text: &str) -> Result<Line, ParseError> {
    let words: Vec<&str> = text
        .split([' ', '\t', ',', ';'])
        .filter(|word| !word.is_empty())
        .collect();
    let numbers = words.iter().map(|word| word.parse::<f64>().ok());
    let numbers: Option<Vec<f64>> = numbers.collect();
    match numbers.as_deref() {
        Some(&[bytes, share])
            if (0.0..=LARGEST).contains(&bytes) && (0.0..=100.0).contains(&share) =>
        {
            Ok(Line {
                number,
                bytes,
                share,
            })
        }
        Some(&[bytes, share]) => Err(wrong(
            number,
            format!("expected {EXPECTED} (0 to 1, or 0 to 100), found {bytes} and {share}"),
        )),
        Some(numbers) => Err(wrong(
            number,
            format!("expected {EXPECTED}, found {} numbers", numbers.len()),
        )),
        None => Err(wrong(
            number,
            format!(
                "expected {EXPECTED}, found {} words, not all of them numbers",
                words.len()
            ),
        )),
    }
}

fn rises(last: &Line, line: &Line) -> Result<(), ParseError> {
    if line.bytes < last.bytes || line.share < last.share {
        let message = format!(
            "{} bytes and {} come after {} bytes and {}, expected neither to fall",
            line.bytes, line.share, last.bytes, last.share
        );
        return Err(wrong(line.number, message));
    }
    Ok(())
}
