//! Where the server takes writes that too few replicas would receive, nobody leads, and producers hear of it.

use super::processes::{Site, wait_for};

#[test]
fn without_the_replicas_that_are_required_nobody_leads_and_producers_are_warned() {
    let Some(site) = Site::open() else { return };
    let config = site.redis.directory().join("tq.toml");
    std::fs::write(&config, "[redis]\nmin_replicas_required = 1\n").unwrap();
    let config = config.to_str().unwrap();
    let scheduler = site.start("scheduler", &["scheduler", "--config", config]);
    wait_for("the refusal to lead", || scheduler.log().contains("min-replicas-to-write").then_some(()));
    let mut producer = site.start("producer", &["produce", "--count", "3", "--config", config]);
    let status = wait_for("the producer's end", || producer.ended());
    assert!(status.success() && producer.log().contains("min-replicas-to-write"), "{}", producer.log());
    let seen = site.status();
    assert!(seen["leader"].is_null() && seen["places"]["ingress"] == 3, "{seen}");
}
