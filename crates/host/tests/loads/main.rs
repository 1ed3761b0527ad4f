//! The host's loads on this machine: that they work, stop, and leave nothing, whoever is killed.
//!
//! Loads are forked and so need a process with one thread; this program is its own small test harness: each test
//! runs in a forked process. No test asserts how fast something is.

mod bench;
mod killing;
mod rights;
mod running;

use bench::Test;
use std::process::ExitCode;

const TESTS: &[Test] = &[
    (
        "the_list_has_every_load_of_a_host",
        running::the_list_has_every_load_of_a_host,
    ),
    (
        "every_load_works_and_leaves_nothing",
        running::every_load_works_and_leaves_nothing,
    ),
    ("a_rate_is_never_exceeded", running::a_rate_is_never_exceeded),
    ("loads_at_once_are_told_apart", running::loads_at_once_are_told_apart),
    (
        "a_users_tree_is_built_elsewhere",
        running::a_users_tree_is_built_elsewhere,
    ),
    (
        "what_cannot_run_says_so_in_one_line",
        running::what_cannot_run_says_so_in_one_line,
    ),
    (
        "a_folder_of_somebody_else_is_left_alone",
        running::a_folder_of_somebody_else_is_left_alone,
    ),
    (
        "an_ordinary_user_has_loads_too",
        running::an_ordinary_user_has_loads_too,
    ),
    (
        "a_worker_that_is_killed_is_an_error",
        running::a_worker_that_is_killed_is_an_error,
    ),
    (
        "kill_9_of_everybody_leaves_nothing",
        killing::kill_9_of_everybody_leaves_nothing,
    ),
    (
        "kill_9_at_any_moment_leaves_nothing",
        killing::kill_9_at_any_moment_leaves_nothing,
    ),
    ("processes_follow_their_parent", killing::processes_follow_their_parent),
    (
        "kill_9_without_a_group_leaves_nothing",
        killing::kill_9_without_a_group_leaves_nothing,
    ),
    (
        "signals_to_the_worker_leave_nothing",
        killing::signals_to_the_worker_leave_nothing,
    ),
    (
        "the_device_of_blockread_goes_with_it",
        killing::the_device_of_blockread_goes_with_it,
    ),
    (
        "segments_of_the_killed_are_removed",
        killing::segments_of_the_killed_are_removed,
    ),
    (
        "every_kind_of_group_is_emptied",
        killing::every_kind_of_group_is_emptied,
    ),
    (
        "a_folder_that_is_there_is_refused",
        rights::a_folder_that_is_there_is_refused,
    ),
    (
        "a_list_of_another_user_kills_nobody",
        rights::a_list_of_another_user_kills_nobody,
    ),
    (
        "a_list_is_not_reached_through_a_link",
        rights::a_list_is_not_reached_through_a_link,
    ),
    (
        "a_number_that_is_used_again_is_not_killed",
        rights::a_number_that_is_used_again_is_not_killed,
    ),
    (
        "a_mark_of_another_user_is_not_believed",
        rights::a_mark_of_another_user_is_not_believed,
    ),
    (
        "loads_do_not_keep_the_rights_of_root",
        rights::loads_do_not_keep_the_rights_of_root,
    ),
    (
        "a_tree_is_built_with_its_owners_rights",
        rights::a_tree_is_built_with_its_owners_rights,
    ),
];

fn main() -> ExitCode {
    worstcase_instruments::child_main();
    killing::child_main();
    bench::main(TESTS)
}
