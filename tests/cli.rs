//! The command line: help, exit codes, everything wrong named at once, quiet ends.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::io::Write;

fn tq() -> Command {
    let mut command = Command::cargo_bin("tq").expect("the binary is built with the tests");
    // What the caller's environment configures is not what is tested.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TQ_") {
            command.env_remove(name);
        }
    }
    command
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn every_command_has_help_with_examples_and_the_global_flags() {
    use clap::CommandFactory;
    let mut command = tq::cli::Cli::command();
    command.build();
    command.clone().debug_assert();
    let mut paths: Vec<(Vec<String>, bool)> = vec![(vec![], true)];
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        paths.push((vec![sub.get_name().into()], true));
        for inner in sub.get_subcommands().filter(|inner| inner.get_name() != "help") {
            paths.push((vec![sub.get_name().into(), inner.get_name().into()], false));
        }
    }
    assert!(paths.len() > 2);
    for (path, examples) in paths {
        let help = tq().args(&path).arg("--help").assert().success();
        let text = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
        assert!(!examples || text.contains("Examples:"), "tq {path:?} --help has no examples");
        for flag in ["--config", "--redis", "--namespace", "--log-level", "--log-format"] {
            assert!(text.contains(flag), "tq {path:?} --help lacks {flag}");
        }
    }
}

#[test]
fn wrong_arguments_are_exit_code_2() {
    for args in [&["nonsense"][..], &["config", "--nonsense"], &["completions", "tcsh"], &[]] {
        tq().args(args).assert().code(2);
    }
    tq().arg("--version").assert().success().stdout(contains("tq "));
}

#[test]
fn unknown_fields_are_refused_with_the_nearest_name() {
    let config = file("[scheduler]\npolcy = \"edf\"\n");
    tq().args(["config", "--config"]).arg(config.path()).assert().code(2).stderr(contains("scheduler.policy"));
    tq().arg("config").env("TQ_WORKER__CONCURENCY", "3").assert().code(2).stderr(contains("worker.concurrency"));
}

#[test]
fn everything_wrong_in_every_layer_is_named_at_once() {
    let config = file("[worker]\nconcurrency = 0\nfail_rate = 2.0\n[nonsense]\nx = 1\n");
    tq().args(["config", "--check", "--log-format", "xml", "--config"])
        .arg(config.path())
        .env("TQ_SCHEDULER__POLICY", "lifo")
        .env("TQ_RECOVERY__MIN_IDLE", "5")
        .assert()
        .code(2)
        .stdout(predicate::str::is_empty())
        .stderr(
            contains("worker.concurrency")
                .and(contains("worker.fail_rate"))
                .and(contains("nonsense"))
                .and(contains("scheduler.policy"))
                .and(contains("recovery.min_idle"))
                .and(contains("log.format"))
                .and(contains("flag --log-format"))
                .and(contains("env TQ_SCHEDULER__POLICY")),
        );
}

#[test]
fn a_missing_file_is_named() {
    tq().args(["config", "--config", "/nowhere/x.toml"]).assert().code(2).stderr(contains("/nowhere/x.toml"));
}

#[test]
fn config_shows_values_and_sources_without_secrets() {
    let shown = tq()
        .args(["config", "--json", "--namespace", "mine"])
        .env("TQ_REDIS_URL", "redis://me:hush@db.example:6379")
        .assert()
        .success()
        .stdout(contains("hush").not());
    let json: serde_json::Value = serde_json::from_slice(&shown.get_output().stdout).unwrap();
    assert_eq!(json["config"]["streams"]["namespace"], "mine");
    assert_eq!(json["sources"]["streams.namespace"], "flag --namespace");
    assert_eq!(json["sources"]["redis.url"], "env TQ_REDIS_URL");
    assert_eq!(json["sources"]["worker.concurrency"], "default");
}

#[test]
fn completions_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        tq().args(["completions", shell]).assert().success().stdout(contains("completions"));
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::process::Stdio;
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("tq"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Closed at once: the script is larger than a pipe's buffer only for some shells, so either it was written or not.
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

fn dry_run(args: &[&str]) -> String {
    let out = tq().args(["produce", "--dry-run"]).args(args).assert().success();
    String::from_utf8_lossy(&out.get_output().stdout).into_owned()
}

#[test]
fn a_dry_run_is_a_function_of_its_arguments() {
    let args = ["--workload", "heavy_tailed", "--count", "50", "--seed", "7", "--id-prefix", "x"];
    let tasks = dry_run(&args);
    assert_eq!(tasks, dry_run(&args));
    assert_eq!(tasks.lines().count(), 50);
    for (number, line) in tasks.lines().enumerate() {
        let task: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(task["id"], format!("x-7-{number:06}"));
    }
    let other_seed = dry_run(&["--workload", "heavy_tailed", "--count", "50", "--seed", "8", "--id-prefix", "x"]);
    assert_ne!(tasks, other_seed);
}

#[test]
fn a_trace_is_sped_up_or_stretched_and_cut() {
    let header = "submit_ms,duration_ms,tenant,priority,deadline_ms,kind\n";
    let trace = file(&format!("{header}0,100,a,,,\n1000,100,b,,,\n4000,100,a,,,\n"));
    let path = trace.path().to_str().unwrap();
    let submitted = |text: String| -> Vec<i64> {
        let tasks = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        tasks.map(|task| task["submitted_us"].as_i64().unwrap()).collect()
    };
    assert_eq!(submitted(dry_run(&["--trace", path, "--speed", "10"])), [0, 100_000, 400_000]);
    // Σ durations / (span × slots) = 0.3 s / (4 s × 1) = 0.075: at load 0.15 it all takes half as long.
    assert_eq!(submitted(dry_run(&["--trace", path, "--load", "0.15", "--slots", "1"])), [0, 500_000, 2_000_000]);
    assert_eq!(submitted(dry_run(&["--trace", path, "--count", "2"])), [0, 1_000_000]);
    tq().args(["produce", "--dry-run", "--trace", path, "--speed", "0"]).assert().code(2);
    for wrong in [&["--load", "0.5"][..], &["--speed", "2"], &["--trace", "x", "--workload", "uniform"]] {
        tq().args(["produce", "--dry-run"]).args(wrong).assert().code(2);
    }
}

#[test]
fn given_tasks_are_checked_before_any_is_submitted() {
    let good = "{\"id\": \"a\", \"service_us\": 5}\n\n{\"payload\": [1, 2]}\n";
    tq().args(["produce", "--dry-run", "--from", "-"])
        .write_stdin(good)
        .assert()
        .success()
        .stdout("{\"id\": \"a\", \"service_us\": 5}\n{\"payload\": [1, 2]}\n");
    tq().args(["produce", "--dry-run", "--from", "-"])
        .write_stdin(format!("{good}{{\"priority\": 256}}\n"))
        .assert()
        .code(1)
        .stdout(predicate::str::is_empty())
        .stderr(contains("line 4").and(contains("priority")));
}

#[test]
fn redis_that_does_not_answer_is_exit_code_1_and_shows_no_password() {
    for command in [&["status"][..], &["dlq", "list"], &["reset", "--yes"], &["produce"]] {
        tq().args(command)
            .args(["--redis", "redis://me:hush@127.0.0.1:1"])
            .env("TQ_REDIS__CONNECT_TIMEOUT", "1s")
            .assert()
            .code(1)
            .stderr(contains("127.0.0.1:1").and(contains("hush").not()));
    }
    tq().arg("reset").assert().code(2).stderr(contains("--yes"));
    for wrong in [&["requeue"][..], &["purge"], &["purge", "--older-than", "5"], &["purge", "x", "--all"], &["show"]] {
        tq().arg("dlq").args(wrong).assert().code(2);
    }
}
