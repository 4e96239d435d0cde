//! One broker under comparison: carries out operations, and shows replies and state in a form without entry ids.

use super::ops::{End, GOOD, Goal, Op, Term};
use crate::conformance::kit;
use std::collections::BTreeMap;
use std::fmt::Debug;
use tq::broker::{AdmitBatch, AdmitItem, Admitted, Broker, BrokerResult, DispatchBatch, Fate, Grant, Retry, Source};
use tq::model::outcome::{Completion, Delivery};
use tq::model::wire::{self, IngressEntry};
use tq::model::{EntryId, Epoch, Micros, Rank, Record, StateChange};

const HOUR: Micros = Micros::from_secs(3_600);

pub(crate) struct Side<B> {
    broker: B,
    now: Micros,
    /// Every rank that was ever admitted or made by a retry.
    ranks: Vec<Rank>,
    /// Every delivery that was ever fetched.
    deliveries: Vec<Delivery>,
    /// Positions of the entries, in the order in which they were seen.
    positions: BTreeMap<EntryId, usize>,
    /// Whether the control arm has read ingress: when what it acknowledged is trimmed is the store's business then.
    control: bool,
}

fn nth<T>(all: &[T], n: usize) -> Option<&T> {
    (!all.is_empty()).then(|| &all[n % all.len()])
}

fn rank_text(rank: &Rank) -> String {
    let member = &rank.member;
    format!("{}@{} {}.{}", member.id(), rank.score, member.attempt(), member.interruptions())
}

fn texts(ranks: &[Rank]) -> Vec<String> {
    ranks.iter().map(rank_text).collect()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

fn changes(change: Option<(u8, Option<u8>)>) -> Vec<StateChange> {
    change.map(|(field, value)| (format!("f{field}"), value.map(|value| value.to_string()))).into_iter().collect()
}

fn shown<T>(reply: BrokerResult<T>, show: impl FnOnce(T) -> String) -> String {
    match reply {
        Ok(value) => show(value),
        Err(error) => format!("{error:?}"),
    }
}

fn plain<T: Debug>(reply: BrokerResult<T>) -> String {
    shown(reply, |value| format!("{value:?}"))
}

impl<B: Broker> Side<B> {
    pub(crate) fn new(broker: B, now: Micros) -> Self {
        Side { broker, now, ranks: vec![], deliveries: vec![], positions: BTreeMap::new(), control: false }
    }

    async fn epoch(&self, term: Term) -> Epoch {
        let latest = self.broker.snapshot(self.now).await.unwrap().epoch.0;
        match term {
            Term::None => Epoch::NONE,
            Term::Latest => Epoch(latest),
            Term::Stale => Epoch(latest.saturating_sub(1)),
            Term::Next => Epoch(latest + 1),
        }
    }

    fn body(number: u8) -> bytes::Bytes {
        match number {
            GOOD => "{\"id\":\"broken\",\"priority\":-1}".into(),
            n if n > GOOD => "not json".into(),
            _ => {
                let submitted = 1_000_000 + i64::from(number / 2);
                let (tenant, deadline) = (number % 3, if number.is_multiple_of(2) { 1 } else { 1i64 << 52 });
                format!(
                    r#"{{"id":"t{number}","tenant":"{tenant}","service_us":{number},"submitted_us":{submitted},"deadline_us":{deadline}}}"#
                )
                .into()
            }
        }
    }

    /// Carries out one operation; its reply.
    pub(crate) async fn apply(&mut self, op: &Op) -> String {
        self.now += Micros::from_millis(1);
        let now = self.now;
        match op {
            Op::Submit(tasks) => {
                let bodies: Vec<_> = tasks.iter().map(|task| Self::body(*task)).collect();
                shown(self.broker.submit(&bodies).await, |entries| format!("{} {}", entries.len(), entries.is_sorted()))
            }
            Op::Admit { term, items, change, mend } => self.admit(*term, items, *change, *mend).await,
            Op::Dispatch { term, front, others, window, change } => {
                let mut chosen = self.broker.pending_scan(None, *front).await.unwrap();
                chosen.truncate(*front);
                chosen.extend(others.iter().filter_map(|n| nth(&self.ranks, *n).cloned()));
                let batch = DispatchBatch { chosen, window: *window, changes: changes(*change), now };
                let epoch = self.epoch(*term).await;
                shown(self.broker.dispatch(epoch, &batch).await, |reply| {
                    let returned = texts(&reply.returned);
                    format!("{:?} {returned:?}", tq::broker::Dispatched { returned: vec![], ..reply })
                })
            }
            Op::Promote { term, count } => {
                let epoch = self.epoch(*term).await;
                shown(self.broker.promote(epoch, now, *count).await, |reply| {
                    format!("{:?} {:?}", texts(&reply.promoted), reply.next_due)
                })
            }
            Op::Fetch { worker, count } => self.fetch(Source::Execution, *worker, *count).await,
            Op::FetchIngress { worker, count } => {
                self.control = true;
                self.fetch(Source::Ingress, *worker, *count).await
            }
            Op::Complete(attempts) => self.complete(Source::Execution, attempts).await,
            Op::CompleteIngress(attempts) => self.complete(Source::Ingress, attempts).await,
            Op::Retry(ends) => {
                let batch: Vec<Retry> = ends.iter().filter_map(|end| self.retry(end)).collect();
                plain(self.broker.retry(&batch, now).await)
            }
            other => self.operate(other).await,
        }
    }

    /// Leases, the register and the operator's commands.
    async fn operate(&mut self, op: &Op) -> String {
        let now = self.now;
        match op {
            Op::Acquire(owner) => {
                shown(self.broker.lease_acquire(&owner.to_string(), HOUR).await, |grant| match grant {
                    Grant::Granted(epoch) => format!("granted {epoch}"),
                    Grant::Held { owner, .. } => format!("held by {owner}"),
                })
            }
            Op::Renew(owner, term) => {
                let epoch = self.epoch(*term).await;
                plain(self.broker.lease_renew(&owner.to_string(), epoch, HOUR).await)
            }
            Op::Release(owner, term) => {
                let epoch = self.epoch(*term).await;
                plain(self.broker.lease_release(&owner.to_string(), epoch).await)
            }
            Op::Depose(owner, term) => {
                let epoch = self.epoch(*term).await;
                plain(self.broker.lease_depose(&owner.to_string(), epoch).await)
            }
            Op::Extend { worker, slots, attempts } => {
                let entries: Vec<EntryId> =
                    attempts.iter().filter_map(|n| nth(&self.deliveries, *n)).map(|delivery| delivery.entry).collect();
                let beat = kit::beat(&format!("w#{worker}"), *slots);
                shown(self.broker.extend(&beat, &entries, now).await, |lost| {
                    format!("{:?}", lost.iter().map(|entry| self.positions[entry]).collect::<Vec<_>>())
                })
            }
            Op::Leave(worker) => plain(self.broker.leave(&format!("w#{worker}")).await),
            Op::DeadTake { letters, requeue } => {
                let all = self.broker.dead(EntryId::ZERO, 1_000).await.unwrap();
                let entries: Vec<EntryId> =
                    letters.iter().filter_map(|n| nth(&all, *n)).map(|letter| letter.entry).collect();
                plain(self.broker.dead_take(&entries, *requeue).await)
            }
            Op::Housekeep(ms) => {
                self.now += Micros::from_millis(*ms);
                let silence = Micros::from_secs(2);
                plain(self.broker.housekeep(self.now, Micros::ZERO, kit::DAY, silence).await)
            }
            Op::Reset => {
                let reply = plain(self.broker.reset().await);
                // A stream that is made anew in the same millisecond would give out the same ids again.
                tq::clock::Clock::real().sleep(Micros::from_millis(2)).await;
                reply
            }
            _ => unreachable!("apply carries out the rest"),
        }
    }

    async fn admit(
        &mut self,
        term: Term,
        goals: &[(Goal, u8)],
        change: Option<(u8, Option<u8>)>,
        mend: bool,
    ) -> String {
        let mut prefix = self.broker.ingress_read(EntryId::ZERO, goals.len().max(1), Micros::ZERO).await.unwrap();
        prefix.truncate(goals.len());
        let items: Vec<AdmitItem> =
            (0i64..).zip(prefix.iter().zip(goals)).map(|(n, (entry, goal))| self.item(entry, *goal, n)).collect();
        let upto = prefix.last().map_or(EntryId::ZERO, |entry| entry.id);
        let mut batch = AdmitBatch { items, upto, changes: changes(change), now: self.now, done_retention: kit::DAY };
        let epoch = self.epoch(term).await;
        let mut reply = self.broker.admit(epoch, &batch).await;
        let mut text = plain(reply.clone());
        if let (true, Ok(Admitted::Duplicates(places))) = (mend, &reply) {
            for place in places {
                batch.items[*place] = AdmitItem::Duplicate;
            }
            reply = self.broker.admit(epoch, &batch).await;
            text += &plain(reply.clone());
        }
        if reply == Ok(Admitted::Done) {
            for item in batch.items {
                if let AdmitItem::Pending { rank, .. } | AdmitItem::Delayed { rank, .. } = item {
                    self.ranks.push(rank);
                }
            }
        }
        text
    }

    fn item(&self, entry: &IngressEntry, (goal, score): (Goal, u8), n: i64) -> AdmitItem {
        let task = match wire::read(entry, 1_000, self.now) {
            Ok(task) => task,
            Err(dead) => return AdmitItem::Rejected(dead),
        };
        let score = if score == 3 { f64::INFINITY } else { f64::from(score) + 0.1 };
        let (rank, record) = (Rank::new(score, task.member()), Record::of(&task, self.now, 3));
        match goal {
            Goal::Pending => AdmitItem::Pending { rank, record },
            Goal::Delayed(ms) => AdmitItem::Delayed { rank, record, due: self.due(ms, n) },
            Goal::Away => AdmitItem::Duplicate,
        }
    }

    /// No two are due at once: what goes first then is not promised.
    fn due(&self, ms: i64, n: i64) -> Micros {
        Micros((self.now + Micros::from_millis(ms)).0 / 1_000 * 1_000 + (self.ranks.len() as i64 * 8 + n) % 1_000)
    }

    fn retry(&mut self, end: &End) -> Option<Retry> {
        let delivery = nth(&self.deliveries, end.attempt)?.clone();
        let member = delivery.member();
        let (attempt, given_back) = (member.attempt(), member.interruptions());
        let counts = if end.spent { (attempt + 1, given_back) } else { (attempt, given_back + 1) };
        let rank = Rank::new(delivery.rank.score, member.with_counts(counts.0, counts.1));
        let fate = match end.goal {
            Goal::Pending => Fate::Pending(rank.clone()),
            Goal::Delayed(ms) => Fate::Delayed(rank.clone(), self.due(ms, 0)),
            Goal::Away => {
                let mut dead = kit::dead(&delivery, &tq::clock::Clock::real());
                dead.letter.at_us = self.now;
                Fate::Dead(dead)
            }
        };
        self.ranks.push(rank);
        Some(Retry {
            entry: delivery.entry,
            id: delivery.member().id().into(),
            fate,
            min_idle: [None, Some(Micros::ZERO), Some(HOUR)][usize::from(end.idle)],
            handler_failed: end.failed,
            spent: end.spent,
        })
    }

    async fn fetch(&mut self, source: Source, worker: u8, count: usize) -> String {
        let found = match self.broker.fetch(source, &format!("w#{worker}"), count, Micros::ZERO).await {
            Ok(found) => found,
            Err(error) => return format!("{error:?}"),
        };
        for (position, delivery) in (self.deliveries.len()..).zip(&found) {
            self.positions.insert(delivery.entry, position);
        }
        let text = found.iter().map(|delivery| self.delivery_text(source, delivery)).collect::<Vec<_>>().join(" ");
        self.deliveries.extend(found);
        text
    }

    fn delivery_text(&self, source: Source, delivery: &Delivery) -> String {
        let place = self.positions[&delivery.entry];
        let (mut record, mut dispatched) = (delivery.record.clone(), delivery.dispatched);
        if source == Source::Ingress {
            // The control arm stamps by the store's clock.
            (record.admitted, dispatched) = (Micros::ZERO, Micros::ZERO);
        }
        format!("#{place} {} {dispatched} {} {record:?}", rank_text(&delivery.rank), delivery.epoch)
    }

    async fn complete(&self, source: Source, attempts: &[usize]) -> String {
        let one = |delivery: &Delivery| Completion {
            delivery: delivery.clone(),
            started: self.now - Micros(70),
            finished: self.now,
            worker: "w#1".into(),
        };
        let batch: Vec<Completion> = attempts.iter().filter_map(|n| nth(&self.deliveries, *n)).map(one).collect();
        plain(self.broker.complete(source, &batch, self.now).await)
    }

    /// The totals of what was done since the last reset.
    pub(crate) async fn counters(&self) -> BTreeMap<String, u64> {
        self.broker.snapshot(self.now).await.unwrap().counters
    }

    /// Everything that can be seen.
    pub(crate) async fn observe(&self) -> String {
        let broker = &self.broker;
        let mut seen = broker.snapshot(self.now).await.unwrap();
        let names = "admitted dispatched freed completed retried interrupted dead handler_failed duplicate_admissions \
                     duplicate_completions rejected deadline_missed";
        let counters: Vec<_> = names.split_whitespace().map(|name| (name, seen.counter(name))).collect();
        let counters = format!("{counters:?}");
        seen.counters.clear();
        seen.lease_left_us = Micros::ZERO;
        // When acknowledged entries are trimmed is the store's business.
        seen.execution_entries = 0;
        seen.workers.sort_by(|a, b| a.beat.worker.cmp(&b.beat.worker));
        let pending = texts(&broker.pending_scan(None, 1_000).await.unwrap());
        let policy = sorted(broker.policy_load().await.unwrap().iter().map(|pair| format!("{pair:?}")).collect());
        let names: Vec<String> = (0..GOOD).map(|n| format!("t{n}")).collect();
        let ids: Vec<&str> = names.iter().map(String::as_str).collect();
        let known = broker.known(&ids, self.now).await.unwrap();
        let results = broker.results(EntryId::ZERO, 10_000).await.unwrap();
        let results: Vec<_> =
            results.iter().map(|r| (r.result.id.as_str(), r.result.attempts, r.result.epoch)).collect();
        let letters = broker.dead(EntryId::ZERO, 10_000).await.unwrap();
        let letters: Vec<_> =
            letters.iter().map(|d| (&d.letter.id, d.letter.reason, &d.letter.detail, &d.raw)).collect();
        let held = broker.expired(Micros::ZERO, 1_000).await.unwrap();
        let held: Vec<_> = held.iter().map(|(one, worker)| (self.positions[&one.entry], worker)).collect();
        let mut ingress = broker.ingress_read(EntryId::ZERO, 1_000, Micros::ZERO).await.unwrap();
        if self.control {
            seen.ingress = 0;
            ingress.clear();
        }
        let ingress: Vec<_> = ingress.iter().map(|entry| &entry.task).collect();
        format!(
            "{seen:?}\n{counters}\npending {pending:?}\npolicy {policy:?}\nknown {known:?}\nresults {results:?}\n\
             dead {letters:?}\nheld {held:?}\ningress {ingress:?}"
        )
    }
}
