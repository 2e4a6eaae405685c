use tidegate_reproduce::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let (paper, quick, seeds) = (args.next().unwrap(), args.next().unwrap() == "quick", args.next().unwrap().parse::<u64>().unwrap());
    let traces = std::env::var_os("TRACES").map(Into::into);
    let wanted: Vec<String> = args.collect();
    let extent = Extent { quick, traces, ..Extent::default() };
    let paper = tidegate_reproductions::papers().into_iter().find(|p| p.id == paper).unwrap();
    let mut figures = (paper.figures)(&extent).unwrap();
    figures.retain(|f| wanted.is_empty() || wanted.iter().any(|w| w == f.id));
    let study = Study::new(figures, seeds).measured(paper.measure);
    let mut results = Results::default();
    for job in study.jobs() {
        let began = std::time::Instant::now();
        let result = study.perform(job, &tidegate_sim::Options::default()).unwrap().unwrap();
        let f: Vec<_> = result.flows.iter().map(|f| format!("{} {:.2} {:.2}ms re {}", f.name, f.goodput_bps / 1e6, f.rtt_ms.mean, f.retransmits)).collect();
        eprintln!("{:?} {:.1}s: use {:.3} q p50 {:.3} p95 {:.3} p99 {:.3} drops {} marks {} | {}", study.identity(job), began.elapsed().as_secs_f64(), result.link.utilisation,
            result.link.queue_delay_ms.p50, result.link.queue_delay_ms.p95, result.link.queue_delay_ms.p99, result.link.drops, result.link.marks, f.join("; "));
        study.note(job, result, &mut results);
    }
    println!("{}", table(&study.report(&results, None)));
}
