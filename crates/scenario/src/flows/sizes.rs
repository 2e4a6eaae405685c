//! How large flows are.

use super::SizeTable;
use crate::complaints::Complaints;
use crate::{Files, LoadError};
use rand::distr::OpenClosed01;
use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tidegate_basics::random::{exponential, log_normal};

/// The largest flow, in bytes: what a tail brings beyond is this long.
const MOST: f64 = 1e12;

/// The distribution of the flows' sizes.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SizesSpec {
    /// All of the same size.
    Constant {
        /// The size.
        #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
        bytes: u64,
    },
    /// The exponential distribution.
    Exponential {
        /// The mean.
        #[schemars(range(min = 1.0, max = 1e9))]
        mean_bytes: f64,
    },
    /// Pareto's distribution, cut off at both ends: many small ones, and a few that bring most of the bytes.
    Pareto {
        /// Its shape: the smaller, the heavier its tail.
        #[schemars(extend("unit" = "exponent"))]
        #[schemars(range(min = 0.05, max = 100.0))]
        shape: f64,
        /// The smallest flow.
        #[schemars(range(min = 1.0, max = 1e9))]
        min_bytes: f64,
        /// The largest flow.
        #[schemars(range(min = 1.0, max = 1e12))]
        max_bytes: f64,
    },
    /// The log-normal distribution.
    Lognormal {
        /// The median.
        #[schemars(range(min = 1.0, max = 1e9))]
        median_bytes: f64,
        /// Standard deviation of the size's natural logarithm.
        #[schemars(extend("unit" = "logarithm"))]
        #[schemars(range(min = 0.0, max = 5.0))]
        deviation: f64,
    },
    /// A file with a line for each point of the cumulative distribution, in rising order: bytes, and the share of flows (0
    /// to 1 or 0 to 100) that have no more. Between two points it rises in a straight line. Relative paths are relative
    /// to the scenario's file.
    Cdf(String),
    /// One of the distributions that transport papers use.
    Published(PublishedSizes),
}

/// Distributions of flow sizes that were measured in data centres.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum PublishedSizes {
    /// Queries and updates of a web search (DCTCP, Alizadeh et al., SIGCOMM 2010); 1.7 MB on average.
    WebSearch,
    /// A cluster for data mining (VL2, Greenberg et al., SIGCOMM 2009); 7.7 MB on average, half of the flows in one packet.
    DataMining,
    /// Cache followers (Roy et al., SIGCOMM 2015); 0.9 MB on average.
    Cache,
}

impl PublishedSizes {
    /// Bytes, and the share of flows that have no more.
    ///
    /// Web search is the table `WebSearch_distribution.txt` of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control),
    /// equal to `DCTCP_CDF.txt` of HKUST-SING/TrafficGenerator. The other two are that generator's `CDF_vl2.txt` (the same
    /// points as `CDF_datamining.txt` of the pFabric simulator, NetSys/simulator) and `CDF_cache.txt`, which count packets of
    /// 1500 bytes.
    fn points(self) -> &'static [(u64, f64)] {
        match self {
            Self::WebSearch => &[
                (0, 0.0),
                (10_000, 0.15),
                (20_000, 0.2),
                (30_000, 0.3),
                (50_000, 0.4),
                (80_000, 0.53),
                (200_000, 0.6),
                (1_000_000, 0.7),
                (2_000_000, 0.8),
                (5_000_000, 0.9),
                (10_000_000, 0.97),
                (30_000_000, 1.0),
            ],
            Self::DataMining => &[
                (1500, 0.5),
                (2 * 1500, 0.6),
                (3 * 1500, 0.7),
                (7 * 1500, 0.8),
                (267 * 1500, 0.9),
                (2107 * 1500, 0.95),
                (66_667 * 1500, 0.99),
                (666_667 * 1500, 1.0),
            ],
            Self::Cache => &[
                (1500, 0.36),
                (2 * 1500, 0.4),
                (7 * 1500, 0.46),
                (13 * 1500, 0.5),
                (67 * 1500, 0.6),
                (133 * 1500, 0.7),
                (667 * 1500, 0.78),
                (1333 * 1500, 0.8),
                (2000 * 1500, 0.9),
                (2667 * 1500, 0.99),
                (33_333 * 1500, 1.0),
            ],
        }
    }

    fn table(self) -> SizeTable {
        let points = self.points().iter();
        SizeTable::of(
            points
                .map(|&(bytes, share)| (bytes as f64, share))
                .collect(),
        )
    }
}

/// Sizes to draw from, with its table read.
#[derive(Clone, Debug)]
pub enum SizeDistribution {
    /// All the same.
    Constant(u64),
    /// Exponential, of that mean in bytes.
    Exponential(f64),
    /// Pareto's between two sizes in bytes.
    Pareto {
        /// Its shape.
        shape: f64,
        /// The smallest size.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// Log-normal.
    Lognormal {
        /// Bytes.
        median: f64,
        /// Of the logarithm.
        deviation: f64,
    },
    /// Points of the cumulative distribution.
    Table(Arc<SizeTable>),
}

impl SizesSpec {
    /// The distribution; none where a file has to be read for it.
    pub(crate) fn without_file(&self) -> Option<SizeDistribution> {
        Some(match *self {
            Self::Constant { bytes } => SizeDistribution::Constant(bytes),
            Self::Exponential { mean_bytes } => SizeDistribution::Exponential(mean_bytes),
            Self::Pareto {
                shape,
                min_bytes: min,
                max_bytes: max,
            } => SizeDistribution::Pareto { shape, min, max },
            Self::Lognormal {
                median_bytes: median,
                deviation,
            } => SizeDistribution::Lognormal { median, deviation },
            Self::Published(published) => SizeDistribution::Table(Arc::new(published.table())),
            Self::Cdf(_) => return None,
        })
    }

    pub(crate) fn resolve(&self, files: &Files) -> Result<SizeDistribution, LoadError> {
        match (self, self.without_file()) {
            (Self::Cdf(file), _) => files.sizes(file).map(SizeDistribution::Table),
            (_, Some(distribution)) => Ok(distribution),
            (_, None) => unreachable!("only a table has a file"),
        }
    }

    pub(super) fn complain(&self, to: &mut Complaints) {
        if let Self::Pareto {
            min_bytes,
            max_bytes,
            ..
        } = self
        {
            let ok = min_bytes <= max_bytes || !to.sound(["pareto"]);
            to.expect(ok, "pareto.max_bytes", || {
                format!(
                    "flows.sizes.pareto.max_bytes is {max_bytes}, expected min_bytes = {min_bytes} or more"
                )
            });
        }
    }
}

impl SizeDistribution {
    /// A size in bytes, 1 at least.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        let bytes = match self {
            Self::Constant(bytes) => return *bytes,
            Self::Exponential(mean) => mean * exponential(rng),
            Self::Pareto { shape, min, max } => {
                let share: f64 = rng.sample(OpenClosed01);
                bounded_pareto(share, *shape, *min, *max)
            }
            Self::Lognormal { median, deviation } => median * log_normal(rng, *deviation),
            Self::Table(table) => table.quantile(rng.random()),
        };
        libm::round(bytes.clamp(1.0, MOST)) as u64
    }

    /// The mean in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(bytes) => *bytes as f64,
            Self::Exponential(mean) => *mean,
            Self::Pareto { shape, min, max } => bounded_mean(*shape, *min, *max),
            Self::Lognormal { median, deviation } => {
                median * libm::exp(deviation * deviation / 2.0)
            }
            Self::Table(table) => table.mean(),
        }
    }
}

/// The size that `share` of all flows exceed, of Pareto's distribution between two sizes.
fn bounded_pareto(share: f64, shape: f64, min: f64, max: f64) -> f64 {
    let beyond = libm::pow(min / max, shape);
    min * libm::pow(beyond + share * (1.0 - beyond), -1.0 / shape)
}

/// Its mean: the integral of that over all shares.
fn bounded_mean(shape: f64, min: f64, max: f64) -> f64 {
    if min == max {
        return min;
    }
    let (ratio, beyond) = (min / max, libm::pow(min / max, shape));
    if (shape - 1.0).abs() < 1e-9 {
        return min * libm::log(max / min) / (1.0 - ratio);
    }
    min * shape / (shape - 1.0) * (1.0 - libm::pow(ratio, shape - 1.0)) / (1.0 - beyond)
}
