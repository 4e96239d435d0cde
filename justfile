# Every recipe takes further arguments, which go to the command it runs.

redis_url := env('TQ_REDIS_URL', 'redis://127.0.0.1:6379')
tq := 'cargo run --release --quiet --'

_default:
    @just --list --unsorted

# Compile the debug build.
[group('dev')]
build *args:
    cargo build {{args}}

# Format everything.
[group('dev')]
fmt *args:
    cargo fmt {{args}}

# Warnings are errors, in the code and in its documentation.
[group('dev')]
lint *args:
    cargo clippy --all-targets --locked {{args}} -- -D warnings
    RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --locked

# Run the tests; what needs Redis starts its own.
[group('dev')]
test *args:
    cargo test --locked {{args}}

# All that a change must pass.
[group('dev')]
verify:
    .ci/run

# Run a scheduler.
[group('run')]
scheduler policy='wfq' *args:
    {{tq}} scheduler --redis {{redis_url}} --policy {{policy}} {{args}}

# Run a worker.
[group('run')]
worker concurrency='4' *args:
    {{tq}} worker --redis {{redis_url}} --concurrency {{concurrency}} {{args}}

# Submit a seeded workload.
[group('run')]
produce workload='multi_tenant' *args:
    {{tq}} produce --redis {{redis_url}} --workload {{workload}} {{args}}

# Show what is where, refreshed.
[group('run')]
status *args:
    {{tq}} status --redis {{redis_url}} --watch {{args}}

# Measure what it costs when the leader goes: `just failover --arms crash --repetitions 15`.
[group('measure')]
failover *args:
    {{tq}} failover {{args}}

# Run every policy on every workload of a profile.
[group('measure')]
bench profile='quick' *args:
    {{tq}} bench --matrix --profile {{profile}} {{args}}
