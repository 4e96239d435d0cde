//! One suite for every broker: each body shows one sentence of the contract in `src/broker/mod.rs`. The memory broker runs
//! it in virtual time, the Redis broker in real time on a private server, where there is one.

mod admit;
mod complete;
mod dead;
mod dispatch;
mod expired;
mod extend;
mod fence;
mod fetch;
mod housekeep;
mod ingress;
pub(crate) mod kit;
mod lease;
mod pending_scan;
mod policy_state;
mod promote;
mod reset;
mod retry;
mod snapshot;
mod submit;
mod wakes;

/// Runs every body of every operation on every broker.
macro_rules! suite {
    ($($operation:ident: $($body:ident)+;)+) => {
        mod memory {
            $(mod $operation {
                $(#[test]
                fn $body() {
                    tq::clock::Clock::run_virtual(async |clock| {
                        let broker = tq::broker::memory::MemoryBroker::new(clock.clone());
                        crate::conformance::$operation::$body(broker, clock).await;
                    });
                })+
            })+
        }
        mod redis {
            $(mod $operation {
                $(#[test]
                fn $body() {
                    crate::support::redis::run(crate::conformance::$operation::$body);
                })+
            })+
        }
    };
}

suite! {
    admit:
        a_prefix_goes_to_pending_and_is_trimmed
        a_duplicate_stops_the_whole_batch
        a_repeated_id_within_a_batch_is_a_duplicate
        a_finished_id_is_a_duplicate
        the_id_of_a_period_before_the_last_is_forgotten
        a_rejected_entry_becomes_a_dead_letter
        a_counted_duplicate_leaves_only_a_count
        a_delayed_item_waits_apart
        an_empty_prefix_changes_nothing;
    complete:
        a_completion_is_recorded_and_frees_its_slot
        a_second_completion_is_counted_and_nothing_else
        twice_in_one_batch_is_recorded_once
        the_first_completion_wins_even_from_a_reclaimed_attempt
        a_missed_deadline_is_counted
        the_control_arm_records_once_per_id
        results_page_by_entry;
    dead:
        a_list_pages_oldest_first
        a_requeued_letter_is_sent_again_and_its_id_forgotten
        a_purged_letter_is_gone_but_its_id_is_known;
    dispatch:
        ranks_move_in_the_order_given
        a_delivery_carries_everything
        the_window_counts_what_is_in_flight
        a_rank_that_is_not_pending_is_missing
        missing_ranks_take_no_room
        a_ghost_is_removed_and_missing
        what_was_returned_is_handed_over_once;
    expired:
        an_idle_attempt_expires_with_its_worker
        at_most_count_oldest_first
        what_nobody_holds_does_not_expire;
    extend:
        a_heartbeat_renews_what_the_worker_holds
        what_the_worker_no_longer_owns_comes_back
        the_register_follows_beats_and_leaving
        leaving_gives_up_no_delivery;
    fence:
        a_lower_epoch_may_not_admit
        a_lower_epoch_may_not_dispatch
        a_lower_epoch_may_not_promote
        without_an_election_the_fence_is_inert
        no_term_is_granted_below_the_fence
        a_grant_raises_the_fence;
    fetch:
        each_delivery_goes_to_one_worker
        a_blocked_fetch_wakes_on_dispatch
        an_empty_fetch_ends_when_its_time_is_up
        the_control_arm_takes_ingress_in_arrival_order
        a_blocked_control_arm_wakes_on_submit
        the_control_arm_dead_letters_what_it_cannot_read;
    housekeep:
        results_go_after_their_retention
        silent_workers_leave_the_register
        unfinished_work_is_never_dropped;
    ingress:
        reading_takes_nothing_out
        a_read_starts_after_and_stops_at_count
        a_blocked_read_wakes_on_submit
        an_empty_read_ends_when_its_time_is_up;
    lease:
        one_holds_and_others_learn_who
        only_the_exact_term_renews_and_releases
        a_lease_that_is_not_renewed_expires
        a_renewal_gives_the_whole_ttl_again
        who_shows_itself_is_seen_until_it_is_gone
        only_the_exact_term_of_a_holder_that_is_gone_can_be_ended;
    pending_scan:
        pages_follow_the_stored_order
        a_scan_goes_on_after_a_rank_that_is_gone;
    policy_state:
        admission_and_dispatch_save_and_remove
        a_refused_batch_saves_nothing;
    promote:
        only_what_is_due_goes
        at_most_count_go_and_the_last_leaves_nothing_due;
    reset:
        everything_goes_but_epoch_and_fence
        the_namespace_works_on_after_it;
    retry:
        back_to_pending_keeps_the_rank
        an_interruption_is_no_retry
        to_delayed_until_due
        to_the_dead_letters_for_good
        an_ended_attempt_is_stale
        a_completed_attempt_is_stale
        an_attempt_that_is_not_idle_enough_is_left_alone
        of_a_finished_task_it_only_frees;
    snapshot:
        an_empty_namespace_is_all_zero
        every_place_is_counted
        the_clock_of_the_store_goes_on;
    submit:
        entries_keep_their_order_and_bytes
        nothing_submitted_is_nothing
        ids_only_grow;
    wakes:
        an_ended_attempt_wakes
        a_released_lease_wakes
        workers_that_come_change_and_go_wake;
}
