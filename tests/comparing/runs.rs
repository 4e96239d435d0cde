//! Result directories to compare: small virtual runs, and written ones with given figures.

use std::fs;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;
use tq::config::RedisConfig;
use tq::lab::matrix::Matrix;
use tq::lab::plan;
use tq::lab::profile::Profile;
use tq::lab::results::Run;
use tq::lab::store::{Choice, Store};

/// The profile `quick` with few tasks.
pub(super) fn small() -> Profile {
    let mut profile = Profile::named("quick").unwrap();
    profile.workload.count = 40;
    profile
}

/// Only these policies and workloads.
pub(super) fn only(mut profile: Profile, policies: &[&str], workloads: &[&str]) -> Profile {
    profile.bench.policies = policies.iter().map(|name| name.parse().unwrap()).collect();
    profile.bench.workloads = workloads.iter().map(|name| name.parse().unwrap()).collect();
    profile
}

/// Runs a profile in virtual time as `parent/run_id`.
pub(super) fn run(profile: Profile, parent: &Path, run_id: &str) -> Run {
    profile.check().unwrap();
    let cells = plan::cells(&profile, None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(Box::pin(async {
        let store = Store::open(Choice::Memory, true, &RedisConfig::default()).await.unwrap();
        let (run_id, results_dir) = (run_id.to_owned(), parent.to_owned());
        let matrix = Matrix { profile, cells, store, run_id, results_dir, quiet: true };
        matrix.run(CancellationToken::new()).await.unwrap()
    }));
    Run::read(&report.directory).unwrap()
}

/// A directory whose every cell has one figure, `latency_p95_s`: of policy, workload and repetition.
pub(super) fn written(
    parent: &Path,
    run_id: &str,
    repetitions: u32,
    mut figure: impl FnMut(&str, &str, u32) -> f64,
) -> Run {
    let directory: PathBuf = parent.join(run_id);
    fs::create_dir_all(&directory).unwrap();
    let mut rows = "run_id,scheduler,workload,load,repetition,seed,broker,timed_out,latency_p95_s\n".to_owned();
    for repetition in 1..=repetitions {
        for workload in ["uniform", "bursty", "heavy_tailed", "multi_tenant"] {
            for policy in ["fifo", "priority", "edf", "wfq"] {
                let (seed, value) = (100 + repetition, figure(policy, workload, repetition));
                rows += &format!("{run_id},{policy},{workload},1.25,{repetition},{seed},memory,false,{value:.9}\n");
            }
        }
    }
    fs::write(directory.join("aggregate.csv"), rows).unwrap();
    fs::write(directory.join("tenants.csv"), "run_id,scheduler,workload,load,repetition,seed,broker,tenant\n").unwrap();
    fs::write(directory.join("manifest.json"), format!(r#"{{"run_id": "{run_id}"}}"#)).unwrap();
    Run::read(&directory).unwrap()
}

/// Changes a run's manifest.
pub(super) fn rewrite(run: &Run, change: impl FnOnce(&mut serde_json::Value)) -> Run {
    let mut manifest = run.manifest.clone();
    change(&mut manifest);
    fs::write(run.directory.join("manifest.json"), manifest.to_string()).unwrap();
    Run::read(&run.directory).unwrap()
}
