//! Properties of every paper.

use std::collections::BTreeMap;
use tidegate_study::{Claim, Extent, Figure};

fn extents() -> [Extent; 3] {
    let of = |quick, lab| Extent {
        quick,
        lab,
        ..Extent::default()
    };
    [of(false, false), of(true, false), of(false, true)]
}

fn figures(extent: &Extent) -> Vec<(&'static str, Vec<Figure>)> {
    let papers = super::papers().into_iter();
    papers
        .map(|paper| (paper.id, (paper.figures)(extent).unwrap()))
        .collect()
}

/// Cases are shared between figures by name.
#[test]
fn cases_of_one_name_are_one_case() {
    for extent in extents() {
        for (paper, figures) in figures(&extent) {
            let mut known: BTreeMap<String, String> = BTreeMap::new();
            for case in figures.into_iter().flat_map(|figure| figure.cases) {
                let text = serde_json::to_string(&case.scenario).unwrap();
                let before = known
                    .entry(case.name.clone())
                    .or_insert_with(|| text.clone());
                assert_eq!(*before, text, "{paper}: {}", case.name);
            }
        }
    }
}

#[test]
fn every_figure_has_cases_and_quantities_and_an_id_of_its_own() {
    for (paper, figures) in figures(&Extent::default()) {
        for figure in &figures {
            let id = figure.id;
            assert!(
                !figure.cases.is_empty() && !figure.quantities.is_empty(),
                "{paper} {id}"
            );
            let namesakes = figures.iter().filter(|other| other.id == id);
            assert_eq!(namesakes.count(), 1, "{paper} {id}");
        }
    }
}

/// Otherwise "even the direction is wrong" would begin within the bound.
#[test]
fn no_effect_is_never_within_a_bound() {
    for extent in extents() {
        for (paper, figures) in figures(&extent) {
            for quantity in figures.iter().flat_map(|figure| &figure.quantities) {
                let sound = match quantity.claim {
                    Claim::Near { .. } => true,
                    Claim::AtMost { paper, neutral } => neutral >= paper,
                    Claim::AtLeast { paper, neutral } => neutral <= paper,
                };
                let (name, claim) = (&quantity.name, &quantity.claim);
                assert!(sound, "{paper}: {name}: {claim:?}");
            }
        }
    }
}

/// The selections for the real kernel exist.
#[test]
fn selections_for_the_laboratory_name_figures() {
    let lab = &extents()[2];
    for (paper, (_, figures)) in super::papers().iter().zip(figures(lab)) {
        for id in paper.lab.figures {
            assert!(figures.iter().any(|figure| figure.id == *id), "{id}");
        }
    }
}
