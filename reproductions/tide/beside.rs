//! Beside traffic that no law here controls: our share of the link, and how soon the queue drains after it.

mod company;
mod drained;
mod meeting;
mod paths;
mod pictures;
mod quantities;
mod reasons;
mod table;

use crate::spans::Span;
use anyhow::Result;
use company::{COMPANIES, Company, ON_THE_KERNEL, ON_THE_KERNELS_CELLS};
use meeting::Meeting;
use std::sync::Arc;
use tidegate_study::{Extent, Figure};

/// The second to come begins at the first of these seconds; the other ends at the second, we at the third.
const SECOND_S: f64 = 15.0;
const END_S: f64 = 105.0;
const DURATION_S: f64 = 165.0;

/// While both send, and when we have the link to ourselves again.
const TOGETHER: Span = Span(SECOND_S, END_S);
const AFTERWARDS: Span = Span(END_S, DURATION_S);

/// The last ten seconds: a queue that has not drained by then still stands.
const AT_THE_END: Span = Span(DURATION_S - 10.0, DURATION_S);

const METHOD: &str = "The other is a flow that no law sees, or four: over UDP as QUIC is, or over TCP to another host behind \
                      the link, which are the same to the law and to the link; or datagrams at 30 % of the link's mean rate; or a \
                      CUBIC flow without a window of our own host, which tide sees and holds. Where the other sends with BBR, \
                      so does our sender. \
                      It joins at 15 s, or is there from 0 s and we join at 15 s; it ends at 105 s, we go on to 165 s. Shares \
                      are of the 90 s together, headers included; a case in which we get more than what is kept of counts as 100 %. \
                      An even share is by flows: of one with four others a fifth, of four with one other four fifths. What the other \
                      left in the queue has to pass first, most of a minute on a slow link: the time to drain counts \
                      from its last packet. The queue is drained when its delay, over a second, is at most twice \
                      what the same law has without company, or 20 ms. The paths are constant links with a buffer of 2000 \
                      packets and of one bandwidth-delay product, and the shipped cells and recordings with 2000 packets.";
const METHOD_ON_THE_KERNEL: &str = "Twelve meetings: eight over 20 Mbit/s, four over the LTE cell, each at a base RTT of 50 ms, with 2000 packets \
                                    of buffer. The other is of another host, a download or an upload, or QUIC of our own host that is left alone. It joins at 15 s, or \
                                    is there from 0 s and we join at 15 s; it ends at 105 s, we go on to 165 s. Shares are of the 90 s together, \
                                    as in the simulator.";

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let meetings: Arc<[Meeting]> = meetings(extent)?.into();
    Ok(Figure {
        id: "beside",
        title: "Beside traffic that nobody controls",
        claim: "Whichever flow was first, we keep 90 % of what untouched Linux would get or of an even share, whichever is less, \
                and nowhere less than 75 %; beside datagrams and a held flow 80 % of what Linux would get. We take no more \
                than an even share and a tenth of the link, unless Linux does. The queue is drained within 5 s of the \
                other's end. DRWA takes the other's queue for its own and starves.",
        method: if extent.lab {
            METHOD_ON_THE_KERNEL
        } else {
            METHOD
        },
        cases: meetings.iter().flat_map(Meeting::cases).collect(),
        quantities: quantities::all(&meetings),
        draw: Box::new(move |sample| pictures::all(sample, &meetings)),
    })
}

/// The meetings, path by path.
fn meetings(extent: &Extent) -> Result<Vec<Meeting>> {
    if extent.lab {
        return on_the_kernel(extent);
    }
    let paths = paths::all(extent)?;
    let all = |path| COMPANIES.map(|company| Meeting::new(company, path));
    Ok(paths.iter().flat_map(all).collect())
}

/// The meetings for which the real kernel has time.
fn on_the_kernel(extent: &Extent) -> Result<Vec<Meeting>> {
    let [steady, cell] = paths::on_the_kernel()?;
    let over = |path, companies: &[Company]| -> Vec<Meeting> {
        companies.iter().map(|&c| Meeting::new(c, path)).collect()
    };
    let mut meetings = over(&steady, &ON_THE_KERNEL);
    if !extent.quick {
        meetings.extend(over(&cell, &ON_THE_KERNELS_CELLS));
    }
    Ok(meetings)
}
