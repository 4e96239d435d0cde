//! What `tq produce` submits: a workload, a trace, or given tasks.

use super::Usage;
use super::given::{Given, given};
use crate::cli::ProduceArgs;
use crate::config::Config;
use crate::model::{Micros, TaskId};
use crate::producer::Planned;
use crate::workload::{Arrival, load, plan, trace};
use anyhow::{Context, bail};

/// Tasks with their instants as offsets from a start that is not known yet.
pub(super) enum Tasks {
    /// Planned here.
    Arrivals(Vec<Arrival>),
    /// Given by the user.
    Given(Vec<Given>),
}

impl Tasks {
    pub(super) fn len(&self) -> usize {
        match self {
            Tasks::Arrivals(tasks) => tasks.len(),
            Tasks::Given(tasks) => tasks.len(),
        }
    }

    /// Their ids, where they bring one.
    pub(super) fn ids(&self) -> Vec<&str> {
        match self {
            Tasks::Arrivals(tasks) => tasks.iter().map(|task| task.id.as_str()).collect(),
            Tasks::Given(tasks) => tasks.iter().filter_map(|task| task.id.as_deref()).collect(),
        }
    }

    /// As they are submitted by a run that begins at `start`.
    pub(super) fn starting_at(&self, start: Micros) -> Box<dyn Iterator<Item = Planned> + '_> {
        match self {
            Tasks::Arrivals(tasks) => {
                Box::new(tasks.iter().map(move |task| Planned { at: start + task.at, body: task.body(start) }))
            }
            Tasks::Given(tasks) => {
                Box::new(tasks.iter().map(move |task| Planned { at: start + task.at, body: task.body.clone() }))
            }
        }
    }
}

/// What the arguments ask for.
pub(super) fn tasks(config: &Config, args: &ProduceArgs) -> anyhow::Result<Tasks> {
    if let Some(from) = &args.from {
        let rate = args.rate.as_ref().map(|_| config.workload.arrival_rate_per_s);
        return Ok(Tasks::Given(given(from, rate, config.scheduler.task_bytes_max)?));
    }
    let Some(path) = &args.trace else { return Ok(Tasks::Arrivals(plan(&config.workload))) };
    let file = std::fs::File::open(path).with_context(|| format!("the trace {}", path.display()))?;
    let mut tasks =
        trace::read(std::io::BufReader::new(file)).with_context(|| format!("the trace {}", path.display()))?;
    if args.count.is_some() {
        tasks.truncate(usize::try_from(config.workload.count)?);
    }
    if args.id_prefix.is_some() || args.seed.is_some() {
        let (prefix, seed) = (&config.workload.id_prefix, config.workload.seed);
        for (number, task) in tasks.iter_mut().enumerate() {
            task.id = TaskId::from(format!("{prefix}-{seed}-{number:06}"));
        }
    }
    let positive = |value: f64| value.is_finite() && value > 0.0;
    match (args.speed, args.load, args.slots) {
        (Some(speed), ..) if positive(speed) => load::speed_up(&mut tasks, speed),
        (None, Some(rho), Some(slots)) if positive(rho) && slots > 0 => load::stretch_to(&mut tasks, rho, slots),
        (None, None, None) => {}
        _ => bail!(Usage("--speed, --load and --slots must be above 0".into())),
    }
    Ok(Tasks::Arrivals(tasks))
}
