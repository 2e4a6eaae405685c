mod model;
use model::*;
use std::time::Duration;
use tidegate_laws::Params;
use tidegate_link::{CellKind, CellModel, Rate};
fn ms(ms: u64) -> Duration { Duration::from_millis(ms) }
fn names(o:&Outcome)->String{ o.groups.iter().map(|g| g.iter().map(|x| format!("{:.1}:{}",x.0,x.1.map_or("-".into(),|n|n.to_string()))).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(" | ")}
struct R(u64);
impl R { fn n(&mut self, k:u64)->u64{ self.0^=self.0<<13; self.0^=self.0>>7; self.0^=self.0<<17; self.0%k } }
#[test]
fn shared() {
    let mut r=R(0x9e3779b97f4a7c15);
    for kind in 0..3 {
    let mut v=vec![];
    for case in 0..40u64 {
        let mbit=[3,8,20,50,100,200][r.n(6) as usize];
        let base=2+r.n(20);
        let far=r.n(150);
        let start=r.n(3)*5;
        let rate = match kind {0=>Rate::constant(mbit as f64*1e6),1=>Rate::from(CellModel::new(CellKind::Lte,None,case)),_=>Rate::from(CellModel::new(CellKind::Hspa,None,case))};
        let mut m=Model::deep(Params::default(), vec![Source::bulk(0),{let mut s=Source::bulk(start).farther(far); s.start+=ms(r.n(300)); s}],40,20);
        m.links=vec![deep(rate, ms(base))];
        m.back=vec![(Duration::ZERO, ms(base))];
        let o=m.run();
        let rtt=(2*base+far) as f64/1e3;
        let t=o.groups.iter().map(|g| g.first().map_or(99., |x|x.0)).fold(0f64,f64::max);
        let churn:usize=o.groups.iter().map(|g|g.len()).sum();
        let t0=start as f64+1.;
        v.push(((t-t0)/rtt,t-t0));
        if kind==0 || t>20. {println!("k{kind} {mbit}M base {base} far {far} start {start}: proof {:.2}s = {:.0} rtt, churn {churn} use {:.2} delay {:.0} bytes {:?} q {:.0?} {}", t-t0,(t-t0)/rtt,o.utilisation,o.mean_delay_ms,o.bytes.iter().map(|b|b/100000).collect::<Vec<_>>(),o.queued_ms, names(&o));}
    }
    v.sort_by(|a,b|a.0.total_cmp(&b.0));
    println!("kind {kind}: rtts {:?}",v.iter().map(|x|x.0 as u32).collect::<Vec<_>>());
    v.sort_by(|a,b|a.1.total_cmp(&b.1));
    println!("kind {kind}: s {:.1?}",v.iter().map(|x|x.1).collect::<Vec<_>>());
    }
}
#[test]
fn independent() {
    let mut r=R(0x9e3779b97f4a7c15);
    for kind in 0..3 {
    let (mut joins, mut held, mut total)=(0,0.,0.);
    let mut events=0;
    for case in 0..12u64 {
        let n=2+r.n(5) as usize;
        let base=2+r.n(40);
        let mut m=Model::deep(Params::default(), vec![],120,10);
        m.links=(0..n).map(|i| { let rate=match kind {0=>Rate::constant([2e6,5e6,8e6,20e6,50e6][r.n(5) as usize]),1=>Rate::from(CellModel::new(CellKind::Lte,None,100*case+i as u64)),_=>Rate::from(CellModel::new(CellKind::Hspa,None,100*case+i as u64))}; deep(rate, ms(base))}).collect();
        m.sources=(0..n).map(|i| {let mut s=Source::bulk(r.n(3)*3).over(&[i]); s.start+=ms(r.n(1000)); s}.farther(r.n(100))).collect();
        m.back=vec![(Duration::ZERO, ms(base))];
        let o=m.run();
        for g in &o.groups { for (i,x) in g.iter().enumerate() { if x.1.is_some(){joins+=1; let until=g.get(i+1).map_or(120.,|y|y.0); held+=until-x.0; events+=1;} } }
        total+=120.*n as f64;
        let used:Vec<f64>=o.bytes.iter().zip(&o.capacities).map(|(b,c)| *b as f64*1500./1448./ *c as f64).collect();let caps:Vec<u64>=o.capacities.iter().map(|c|c/13750000).collect();
        println!("k{kind} n {n} base {base} cap {caps:?} used {used:.2?} q {:.0?} {}", o.queued_ms, names(&o));
    }
    println!("kind {kind}: joins {joins} held {held:.1}s of {total} flow-s; mean {:.1}", held/events.max(1) as f64);
    }
}
