"""What happened to others, as tests named after it: advisories and reports about access (D 1, 2, 3).

LESSONS says for each published id which test asserts that it cannot happen here; NOT_ACCESS, for those that are about
something else than who may do what, where they are tested, or why there is nothing to test.
"""

from __future__ import annotations

from tests.operations import test_security_lessons_logins, test_security_lessons_rights

MODULES = (test_security_lessons_logins, test_security_lessons_rights)

LESSONS: dict[str, tuple[str, ...]] = {
    "CVE-2025-24016": ("test_cve_2025_24016_a_context_is_plain_data",),
    "GHSA-hcrc-79hj-m3qh": ("test_cve_2025_24016_a_context_is_plain_data",),
    "CVE-2026-74039": ("test_cve_2026_74039_deep_and_large_contexts_are_refused_with_the_limit",),
    "GHSA-5vh8-34r8-q74q": ("test_cve_2026_74039_deep_and_large_contexts_are_refused_with_the_limit",),
    "CVE-2026-74035": (
        "test_cve_2026_74035_empty_password_never_means_unchanged",
        "test_cve_2026_74035_reserved_users_are_guarded_first",
    ),
    "CVE-2026-26206": ("test_cve_2026_26206_an_attempt_is_counted_before_it_is_looked_at",),
    "CVE-2026-93346": ("test_cve_2026_26206_an_attempt_is_counted_before_it_is_looked_at",),
    "CVE-2026-25771": ("test_cve_2026_25771_garbage_is_refused_before_the_key_is_read",),
    "CVE-2026-48162": ("test_cve_2026_48162_who_reads_files_gets_no_key_and_rotation_ends_all_tokens",),
    "GHSA-r6f5-h662-8ffc": ("test_cve_2026_48162_who_reads_files_gets_no_key_and_rotation_ends_all_tokens",),
    "CVE-2026-74040": ("test_cve_2026_74040_no_other_spelling_of_agent_conf_enters",),
    "CVE-2026-74036": ("test_cve_2026_74036_files_need_their_own_right",),
    "CVE-2021-26814": ("test_cve_2021_26814_no_name_leaves_its_folder",),
    "CVE-2026-74033": ("test_cve_2021_26814_no_name_leaves_its_folder",),
    "CVE-2026-74043": ("test_cve_2021_26814_no_name_leaves_its_folder",),
    "CVE-2026-30893": ("test_cve_2021_26814_no_name_leaves_its_folder",),
    "CVE-2026-25770": ("test_cve_2021_26814_no_name_leaves_its_folder",),
    "GHSA-r4f7-v3p6-79jm": ("test_cve_2021_26814_no_name_leaves_its_folder",),
    "CVE-2026-25769": ("test_cve_2026_25769_permissions_never_come_from_the_message",),
    "GHSA-3gm7-962f-fxw5": ("test_cve_2026_25769_permissions_never_come_from_the_message",),
    "CVE-2026-44901": ("test_cve_2026_25769_permissions_never_come_from_the_message",),
    "GHSA-8c6v-7g3w-prrq": ("test_cve_2026_25769_permissions_never_come_from_the_message",),
    "CVE-2026-28220": ("test_cve_2026_25769_permissions_never_come_from_the_message",),
    "GHSA-w2jj-pfq9-mh9p": ("test_cve_2026_25769_permissions_never_come_from_the_message",),
    "GHSA-8w7x-52r7-qvjf": ("test_ghsa_8w7x_52r7_qvjf_a_context_session_never_has_the_service_users_roles",),
    "CVE-2022-24841": ("test_cve_2022_24841_nobody_links_what_he_does_not_hold",),
    "GHSA-pr2g-j78h-84cr": ("test_cve_2022_24841_nobody_links_what_he_does_not_hold",),
    "GHSA-m2h6-4xpq-qw3m": ("test_ghsa_m2h6_4xpq_qw3m_a_move_needs_the_right_on_both_groups",),
    "F#36093": ("test_f36093_a_right_in_one_group_is_none_in_another",),
    "F#12961": ("test_f36093_a_right_in_one_group_is_none_in_another",),
    "W#38810": ("test_w38810_empty_context_grants_nothing_and_needs_allow_run_as",),
    "W#6651": ("test_w6651_making_a_user_with_the_run_as_right_is_a_grant",),
    "W#38193": ("test_w38193_context_sessions_end_with_what_they_rest_on",),
    "W#35043": ("test_w35043_a_token_issued_in_the_second_of_a_revocation_lives",),
    "W#37076": ("test_w37076_a_deny_is_not_read_as_a_permission",),
    "W#7328": ("test_w7328_lists_and_counts_are_those_of_what_may_be_read",),
    "W#33098": ("test_w7328_lists_and_counts_are_those_of_what_may_be_read",),
    "W#38683": ("test_w38683_refusals_are_the_same_whether_it_exists_or_not",),
    "W#8051": ("test_w8051_no_secret_is_in_the_log_of_a_refused_call",),
    "W#38855": ("test_w8051_no_secret_is_in_the_log_of_a_refused_call",),
    "W#38844": ("test_w38844_no_password_is_shipped",),
    "W#39284": ("test_w38844_no_password_is_shipped",),
    "W#39214": ("test_w39214_too_large_is_413_with_both_numbers",),
    "log injection": ("test_log_injection_no_name_forges_a_line",),
}
NOT_ACCESS = {
    "CVE-2026-48024": "names in a merged file: tests of domain/merging and folders",
    "GHSA-gh4h-fx78-q8xc": "names in a merged file: tests of domain/merging and folders",
    "CVE-2026-74041": "one reader for check and consumer: tests of domain/agent_conf_check",
    "CVE-2022-40497": "no operation sends commands to agents",
    "CVE-2026-74034": "no agent speaks to this service; what it leaves in its folder is read as data about itself",
    "W#38655": "what agents get: tests of sync",
    "W#39144": "what agents get: tests of sync",
    "W#31315": "what a group's file shows: tests of the agents' configuration",
    "W#38638": "a document that says nothing: tests of domain/agent_conf_check",
    "files.yml": "downloads: tests of remote",
}
# Every id of the collected lessons (section 3.1 and 3.2), for which one of the tables above must have a word.
COLLECTED = """
CVE-2025-24016 GHSA-hcrc-79hj-m3qh CVE-2026-74039 GHSA-5vh8-34r8-q74q CVE-2026-74035 CVE-2026-26206 CVE-2026-93346
CVE-2026-25771 CVE-2026-48162 GHSA-r6f5-h662-8ffc CVE-2026-48024 GHSA-gh4h-fx78-q8xc CVE-2026-74040 CVE-2026-74041
CVE-2026-74036 CVE-2021-26814 CVE-2026-74033 CVE-2026-74043 CVE-2026-30893 CVE-2026-25770 GHSA-r4f7-v3p6-79jm
CVE-2026-25769 GHSA-3gm7-962f-fxw5 CVE-2026-44901 GHSA-8c6v-7g3w-prrq CVE-2026-28220 GHSA-w2jj-pfq9-mh9p
CVE-2022-40497 CVE-2026-74034 GHSA-8w7x-52r7-qvjf CVE-2022-24841 GHSA-pr2g-j78h-84cr GHSA-m2h6-4xpq-qw3m F#36093
F#12961 W#38810 W#6651 W#38193 W#35043 W#37076 W#7328 W#33098 W#38683 W#38655 W#39144 W#31315 W#8051 W#38855 W#38638
W#38844 W#39284 W#39214 log_injection files.yml
"""


def test_every_lesson_has_its_test() -> None:
    collected = {word.replace("_", " ") for word in COLLECTED.split()}
    assert collected == LESSONS.keys() | NOT_ACCESS.keys()
    assert LESSONS.keys().isdisjoint(NOT_ACCESS)
    named = {test for tests in LESSONS.values() for test in tests}
    here = {name for module in MODULES for name in vars(module) if name.startswith("test_")}
    assert named == here
