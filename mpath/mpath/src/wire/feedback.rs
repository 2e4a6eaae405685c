//! The receiver's feedback.

use super::{FEEDBACK, Malformed, Packet, cursor::Cursor, write_head};
use crate::{Feedback, Gap, PathGap, PathId, PathReport};
use std::time::Duration;

/// Bytes of the header, of a report, of a gap of a path, of a gap of the stream.
const HEADER: usize = 32;
const REPORT: usize = 24;
const PATH_GAP: usize = 16;
const GAP: usize = 12;

/// Bytes of a feedback.
pub fn feedback_bytes(feedback: &Feedback) -> usize {
    HEADER
        + feedback.reports.len() * REPORT
        + feedback.lost.len() * PATH_GAP
        + feedback.missing.len() * GAP
}

/// Writes a feedback. No more than [`Feedback::REPORTS`] and [`Feedback::GAPS`] go in.
pub fn write_feedback(out: &mut Vec<u8>, connection: u64, feedback: &Feedback) {
    let reports = &feedback.reports[..feedback.reports.len().min(Feedback::REPORTS)];
    let lost = &feedback.lost[..feedback.lost.len().min(Feedback::GAPS)];
    let missing = &feedback.missing[..feedback.missing.len().min(Feedback::GAPS)];
    write_head(out, FEEDBACK, HEADER, 0);
    out.extend(connection.to_be_bytes());
    out.extend(feedback.next.to_be_bytes());
    out.extend(feedback.limit.to_be_bytes());
    out.extend([
        reports.len() as u8,
        lost.len() as u8,
        missing.len() as u8,
        0,
    ]);
    for report in reports {
        out.extend(report.path.0.to_be_bytes());
        out.extend(report.largest.to_be_bytes());
        out.extend(report.lost.to_be_bytes());
        let delay_us = u32::try_from(report.delay.as_micros()).unwrap_or(u32::MAX);
        out.extend(delay_us.to_be_bytes());
    }
    for lost in lost {
        out.extend(lost.path.0.to_be_bytes());
        write_gap(out, &lost.gap);
    }
    for gap in missing {
        write_gap(out, gap);
    }
}

fn write_gap(out: &mut Vec<u8>, gap: &Gap) {
    out.extend(gap.first.to_be_bytes());
    out.extend(gap.count.to_be_bytes());
}

pub(super) fn parse<'a>(head: &mut Cursor, body: &'a [u8]) -> Result<Packet<'a>, Malformed> {
    head.u16()?;
    let connection = head.u64()?;
    let (next, limit) = (head.u64()?, head.u64()?);
    let [reports, lost, missing] = [head.u8()?, head.u8()?, head.u8()?].map(usize::from);
    for (count, most) in [
        (reports, Feedback::REPORTS),
        (lost, Feedback::GAPS),
        (missing, Feedback::GAPS),
    ] {
        if count > most {
            return Err(Malformed::Entries(count));
        }
    }
    let mut body = Cursor::new(body);
    let feedback = Feedback {
        next,
        limit,
        reports: many(reports, || report(&mut body))?,
        lost: many(lost, || path_gap(&mut body))?,
        missing: many(missing, || gap(&mut body))?,
    };
    Ok(Packet::Feedback {
        connection,
        feedback,
    })
}

fn many<T>(
    count: usize,
    mut read: impl FnMut() -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    (0..count).map(|_| read()).collect()
}

fn report(body: &mut Cursor) -> Result<PathReport, Malformed> {
    Ok(PathReport {
        path: PathId(body.u32()?),
        largest: body.u64()?,
        lost: body.u64()?,
        delay: Duration::from_micros(body.u32()?.into()),
    })
}

fn path_gap(body: &mut Cursor) -> Result<PathGap, Malformed> {
    Ok(PathGap {
        path: PathId(body.u32()?),
        gap: gap(body)?,
    })
}

fn gap(body: &mut Cursor) -> Result<Gap, Malformed> {
    Ok(Gap {
        first: body.u64()?,
        count: body.u32()?,
    })
}
