//! Random operations. Whatever they name (ranks, attempts, letters) is a number that each side resolves among its own.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// How many tasks there are; submitted again and again they are duplicates.
pub(crate) const GOOD: u8 = 20;

/// Which term an operation of the leader claims to act in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Term {
    None,
    Latest,
    Stale,
    Next,
}

/// Where an admitted task or a retried attempt goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    Pending,
    Delayed(i64),
    Away,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) attempt: usize,
    pub(crate) goal: Goal,
    /// 0: the worker says so; 1: recovery after no idle time; 2: recovery after an hour.
    pub(crate) idle: u8,
    pub(crate) failed: bool,
    pub(crate) spent: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Tasks by number; those from [`GOOD`] on cannot be read.
    Submit(Vec<u8>),
    /// A prefix with goals and scores; `Away` counts a duplicate. `mend`: repeat with the duplicates that were named.
    Admit {
        term: Term,
        items: Vec<(Goal, u8)>,
        change: Option<(u8, Option<u8>)>,
        mend: bool,
    },
    /// The first of what is pending, then some rank that was ever seen.
    Dispatch {
        term: Term,
        front: usize,
        others: Vec<usize>,
        window: Option<u64>,
        change: Option<(u8, Option<u8>)>,
    },
    Promote {
        term: Term,
        count: usize,
    },
    Fetch {
        worker: u8,
        count: usize,
    },
    FetchIngress {
        worker: u8,
        count: usize,
    },
    Complete(Vec<usize>),
    CompleteIngress(Vec<usize>),
    Retry(Vec<End>),
    Acquire(u8),
    Renew(u8, Term),
    Release(u8, Term),
    /// Of a holder that nobody sees.
    Depose(u8, Term),
    Extend {
        worker: u8,
        slots: u32,
        attempts: Vec<usize>,
    },
    Leave(u8),
    DeadTake {
        letters: Vec<usize>,
        requeue: bool,
    },
    /// Time passes, in ms, and housekeeping follows it.
    Housekeep(i64),
    Reset,
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![20 => Just(Term::None), 20 => Just(Term::Latest), 3 => Just(Term::Stale), 1 => Just(Term::Next)]
}

fn goal() -> impl Strategy<Value = Goal> {
    prop_oneof![6 => Just(Goal::Pending), 2 => (0i64..50).prop_map(Goal::Delayed), 2 => Just(Goal::Away)]
}

fn change() -> impl Strategy<Value = Option<(u8, Option<u8>)>> {
    option::of((0u8..4, option::of(any::<u8>())))
}

fn end() -> impl Strategy<Value = End> {
    (0usize..60, goal(), 0u8..3, any::<bool>(), any::<bool>()).prop_map(|(attempt, goal, idle, failed, spent)| End {
        attempt,
        goal,
        idle,
        failed,
        spent,
    })
}

fn places(most: usize) -> impl Strategy<Value = Vec<usize>> {
    vec(0usize..60, 0..most)
}

/// What a scheduler, its workers and an operator do.
pub(crate) fn scheduled() -> impl Strategy<Value = Vec<Op>> {
    let dispatch = (term(), 0usize..4, places(3), option::of(0u64..6), change())
        .prop_map(|(term, front, others, window, change)| Op::Dispatch { term, front, others, window, change });
    let admit = (term(), vec((goal(), 0u8..4), 0..8), change(), any::<bool>())
        .prop_map(|(term, items, change, mend)| Op::Admit { term, items, change, mend });
    let extend =
        (0u8..3, 0u32..3, places(4)).prop_map(|(worker, slots, attempts)| Op::Extend { worker, slots, attempts });
    let op = prop_oneof![
        15 => vec(0..GOOD + 2, 0..6).prop_map(Op::Submit),
        24 => admit,
        24 => dispatch,
        9 => (term(), 0usize..4).prop_map(|(term, count)| Op::Promote { term, count }),
        24 => (0u8..3, 1usize..4).prop_map(|(worker, count)| Op::Fetch { worker, count }),
        15 => places(4).prop_map(Op::Complete),
        20 => vec(end(), 0..4).prop_map(Op::Retry),
        6 => (0u8..2).prop_map(Op::Acquire),
        3 => (0u8..2, term()).prop_map(|(owner, term)| Op::Renew(owner, term)),
        3 => (0u8..2, term()).prop_map(|(owner, term)| Op::Release(owner, term)),
        2 => (0u8..2, term()).prop_map(|(owner, term)| Op::Depose(owner, term)),
        6 => extend,
        2 => (0u8..3).prop_map(Op::Leave),
        6 => (places(3), any::<bool>()).prop_map(|(letters, requeue)| Op::DeadTake { letters, requeue }),
        3 => (0i64..4_000).prop_map(Op::Housekeep),
        1 => Just(Op::Reset),
    ];
    vec(op, 10..90)
}

/// What workers do without a scheduler.
pub(crate) fn control() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => vec(0..GOOD + 2, 0..6).prop_map(Op::Submit),
        4 => (0u8..3, 1usize..4).prop_map(|(worker, count)| Op::FetchIngress { worker, count }),
        4 => places(4).prop_map(Op::CompleteIngress),
        1 => (places(3), any::<bool>()).prop_map(|(letters, requeue)| Op::DeadTake { letters, requeue }),
    ];
    vec(op, 1..40)
}
