//! What each law costs for a segment that arrives and an acknowledgement that leaves.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tidegate_laws::Law;
use tidegate_laws::bench::Download;

/// Segments of one round of the benchmark.
const SEGMENTS: u64 = 10_000;

fn laws(c: &mut Criterion) {
    let mut group = c.benchmark_group("segment and acknowledgement");
    group.throughput(Throughput::Elements(SEGMENTS));
    for law in Law::ALL {
        let mut download = Download::new(law);
        let steps = |download: &mut Download| {
            for _ in 0..SEGMENTS {
                black_box(download.step());
            }
        };
        group.bench_function(law.name(), |b| {
            b.iter(|| steps(&mut download));
        });
        assert_eq!(download.flow().wanted().is_some(), law != Law::None);
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(10)
        .without_plots();
    targets = laws
}
criterion_main!(benches);
