/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/http_rig.h"
#include "tests/support/tap.h"

static void acknowledged_segments_leave_the_spool(void)
{
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, NULL, 0) || !rig_new(&rig, &s))
		return;
	for (uint64_t i = 0; i < 20; i++)
		rig_send(&rig, i);
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_stored, 20);
	for (uint64_t i = 0; i < 20; i++)
		if (s.stored[i] != i)
			ok_eq(s.stored[i], i);
	ok_eq(rig_files_left(&rig, ".seg"), 0);
	ok_str(s.url, "/v1/segments/here/boot/7/19");
	rig_end(&rig, &s);
}

static void only_a_true_acknowledgement_counts(void)
{
	static const enum behaviour script[] = { ANSWER_GARBAGE, ANSWER_OTHER, ANSWER_OTHER_HASH,
						 ANSWER_500 };
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, script, TAP_NR(script)) || !rig_new(&rig, &s))
		return;
	rig_send(&rig, 3);
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_requests, 5);
	ok_eq(s.nr_stored, 1);
	ok_eq(s.stored[0], 3);
	ok_eq(rig_files_left(&rig, ".seg"), 0);
	rig_end(&rig, &s);
}

static void refused_segment_is_set_aside_and_counted(void)
{
	static const enum behaviour script[] = { ANSWER_400 };
	struct receiver s;
	struct ledger ledger;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, script, 1) || !rig_new(&rig, &s))
		return;
	rig_send(&rig, 0);
	rig_send(&rig, 1);
	ok_eq(rig_wait_lost(&rig, LOSS_QUARANTINE, 1), 1);
	ledger_init(&ledger);
	account_take(rig.account, 2, &ledger);
	if (ok_eq(ledger.nr, 1))
		ok_eq(ledger.losses[0].device, device_make(7, 3));
	ledger_release(&ledger);
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_stored, 1);
	ok_eq(s.stored[0], 1);
	ok_eq(rig_files_left(&rig, ".bad"), 1);
	rig_end(&rig, &s);
}

static void redirects_and_refusals_of_access_keep_the_spool(void)
{
	static const enum behaviour script[] = { ANSWER_REDIRECT, ANSWER_401 };
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, script, TAP_NR(script)) || !rig_new(&rig, &s))
		return;
	rig_send(&rig, 0);
	rig_wait_requests(&s, 2);
	rig_close(&rig, 0.1);
	ok_eq(s.nr_elsewhere, 0);
	ok_eq(s.nr_requests, 2);
	ok_eq(rig_files_left(&rig, ".seg"), 1);
	/* The next run sends what this one could not. */
	if (rig_open(&rig, &s))
		rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_stored, 1);
	ok_eq(rig_files_left(&rig, ".seg"), 0);
	rig_end(&rig, &s);
}

static void retry_after_is_obeyed(void)
{
	static const enum behaviour script[] = { ANSWER_503, ANSWER_507 };
	struct timespec from, to;
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, script, 2) || !rig_new(&rig, &s))
		return;
	clock_gettime(CLOCK_MONOTONIC, &from);
	rig_send(&rig, 0);
	rig_close(&rig, RIG_PATIENCE_S);
	clock_gettime(CLOCK_MONOTONIC, &to);
	ok_eq(s.nr_stored, 1);
	ok((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 >= 2000);
	rig_end(&rig, &s);
}

static void too_large_a_segment_goes_in_parts(void)
{
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, NULL, 0) || !rig_new(&rig, &s))
		return;
	s.max_body_bytes = 3000;
	rig_send_many(&rig, 4, 2000);
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.requests, 2000);
	ok(s.nr_stored > 1);
	ok_eq(rig_files_left(&rig, ".seg"), 0);
	ok_eq(rig_files_left(&rig, ".bad"), 0);
	rig_end(&rig, &s);
}

static void what_cannot_be_split_is_lost_by_count(void)
{
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, NULL, 0) || !rig_new(&rig, &s))
		return;
	s.max_body_bytes = 20;
	rig_send_many(&rig, 0, 100);
	ok_eq(rig_wait_lost(&rig, LOSS_QUARANTINE, 100), 100);
	ok_eq(s.nr_stored, 0);
	rig_close(&rig, 1);
	ok_eq(rig_files_left(&rig, ".bad"), 1);
	rig_end(&rig, &s);
}

/*
 * The first nr names asked for are taken by something else: the whole, its first halves down to a
 * 32nd, and the name that the content of that gives. Returns what is stored of 320 requests.
 */
static uint64_t stored_where_taken(size_t nr)
{
	static const enum behaviour script[] = { ANSWER_409, ANSWER_409, ANSWER_409, ANSWER_409,
						 ANSWER_409, ANSWER_409, ANSWER_409 };
	uint64_t nr_lost;
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, script, nr) || !rig_new(&rig, &s))
		return 0;
	rig_send_many(&rig, 0, 320);
	rig_wait_sent(&rig);
	nr_lost = 320 - s.requests;
	ok_eq(rig_wait_lost(&rig, LOSS_QUARANTINE, nr_lost), nr_lost);
	rig_close(&rig, 1);
	rig_end(&rig, &s);
	return s.requests;
}

/* As after a snapshot was restored: nothing of either life is lost. */
static void taken_name_costs_nothing(void)
{
	ok_eq(stored_where_taken(6), 320);
}

static void taken_twice_loses_just_what_it_names(void)
{
	ok_eq(stored_where_taken(7), 310);
}

static void dead_receiver_costs_nothing_but_time(void)
{
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, NULL, 0) || !rig_new(&rig, &s))
		return;
	MHD_stop_daemon(s.daemon);
	s.daemon = NULL;
	for (uint64_t i = 0; i < 5; i++)
		rig_send(&rig, i);
	nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
	ok_eq(rig_files_left(&rig, ".seg"), 5);
	ok(receiver_listen(&s));
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_stored, 5);
	ok_eq(s.stored[4], 4);
	ok_eq(rig_files_left(&rig, ".seg"), 0);
	rig_end(&rig, &s);
}

/* The receiver closes the idle connection, as it does after its time limit or at its restart. */
static void closed_connection_costs_nothing(void)
{
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, NULL, 0) || !rig_new(&rig, &s))
		return;
	s.keeps_names = true;
	for (uint64_t i = 0; i < 3; i++) {
		rig_send(&rig, i);
		rig_wait_sent(&rig);
	}
	MHD_stop_daemon(s.daemon);
	ok(receiver_listen(&s));
	for (uint64_t i = 3; i < 6; i++) {
		rig_send(&rig, i);
		rig_wait_sent(&rig);
	}
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_connections, 2); /* one of each receiver */
	ok_eq(s.nr_requests, 6);
	ok_eq(s.nr_stored, 6);
	ok_eq(s.requests, 6);
	rig_end(&rig, &s);
}

/* The machine at the other end is gone: nobody acknowledges a packet, and nobody closes. */
static void silent_machine_is_noticed(void)
{
	struct receiver s;
	struct rig rig = { .silent_s = 1 };

	if (!receiver_begin(&s, NULL, 0) || !rig_new(&rig, &s))
		return;
	s.keeps_names = true;
	rig_send(&rig, 0);
	rig_wait_sent(&rig);
	if (!receiver_silence(&s))
		return;
	rig_send(&rig, 1);
	rig_wait_sent(&rig);
	rig_send(&rig, 2);
	rig_wait_sent(&rig);
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_connections, 2);
	ok_eq(s.nr_stored, 3);
	ok_eq(s.requests, 3);
	rig_end(&rig, &s);
}

/* Behind a balancer the next connection may lead to another receiver. */
static void connection_is_replaced_after_its_life(void)
{
	struct receiver s;
	struct rig rig = { .life_s = 1 };

	if (!receiver_begin(&s, NULL, 0) || !rig_new(&rig, &s))
		return;
	for (uint64_t i = 0; i < 4; i++) {
		rig_send(&rig, i);
		rig_wait_sent(&rig);
		if (i == 1)
			nanosleep(&(struct timespec){ 2, 100000000 }, NULL);
	}
	rig_close(&rig, RIG_PATIENCE_S);
	ok(s.nr_connections >= 2); /* more where this machine takes seconds for a segment */
	ok_eq(s.nr_stored, 4);
	ok_eq(s.requests, 4);
	rig_end(&rig, &s);
}

/* The connection ends after the segment was stored and before its acknowledgement. */
static void connection_cut_before_the_answer_counts_once(void)
{
	static const enum behaviour script[] = { ANSWER_WELL, ANSWER_CUT };
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, script, TAP_NR(script)) || !rig_new(&rig, &s))
		return;
	s.keeps_names = true;
	for (uint64_t i = 0; i < 3; i++) {
		rig_send(&rig, i);
		rig_wait_sent(&rig);
	}
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_requests, 4);
	ok_eq(s.nr_stored, 3);
	ok_eq(s.requests, 3);
	ok_eq(rig_files_left(&rig, ".bad"), 0);
	rig_end(&rig, &s);
}

static void stop_cuts_a_slow_transfer_and_keeps_the_segment(void)
{
	static const enum behaviour script[] = { ANSWER_SLOWLY };
	struct receiver s;
	struct rig rig = { .hindsight = NULL };

	if (!receiver_begin(&s, script, 1) || !rig_new(&rig, &s))
		return;
	rig_send(&rig, 0);
	nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	rig_close(&rig, 0.1);
	ok_eq(rig_files_left(&rig, ".seg"), 1);
	/* The receiver has it by now; sending it again is harmless. */
	if (rig_open(&rig, &s))
		rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(rig_files_left(&rig, ".seg"), 0);
	rig_end(&rig, &s);
}

static void damaged_spool_file_is_set_aside(void)
{
	char path[128];
	struct receiver s;
	struct rig rig = { .hindsight = NULL };
	FILE *f;

	strncpy(rig.dir, "/tmp/blkcast-http.XXXXXX", sizeof(rig.dir));
	if (!receiver_begin(&s, NULL, 0) || !ok(mkdtemp(rig.dir) != NULL))
		return;
	snprintf(path, sizeof(path), "%s/00000000000000000006-0000000000.seg", rig.dir);
	f = fopen(path, "w");
	fputs("no segment", f);
	fclose(f);
	if (!rig_open(&rig, &s))
		return;
	rig_send(&rig, 0);
	rig_close(&rig, RIG_PATIENCE_S);
	ok_eq(s.nr_stored, 1);
	ok_eq(s.nr_requests, 1);
	ok_eq(rig_files_left(&rig, ".bad"), 1);
	rig_end(&rig, &s);
}

static void bad_urls_are_refused(void)
{
	static const char *const urls[] = { "http://", "http:", "http://h:99999", "http://h/?a=b" };
	struct err err;
	struct sink *sink = NULL;

	for (size_t i = 0; i < TAP_NR(urls); i++) {
		struct sink_config config = {
			.url = urls[i], .spool_dir = "/nonexistent", .host = "h", .boot_id = "b"
		};

		err.line[0] = 0;
		if (!ok_int(sink_http.open(&sink, &config, &err), -EINVAL))
			tap_note("%s", urls[i]);
		ok(strstr(err.line, "expected http") != NULL);
	}
	ok(!sink);
}

static const struct tap_test tests[] = {
	{ "acknowledged segments leave the spool, in order",
	  acknowledged_segments_leave_the_spool },
	{ "only an answer that names segment and hash is an acknowledgement",
	  only_a_true_acknowledgement_counts },
	{ "a refused segment is set aside and counted", refused_segment_is_set_aside_and_counted },
	{ "redirects are not followed, and who is denied waits",
	  redirects_and_refusals_of_access_keep_the_spool },
	{ "retry-after is obeyed", retry_after_is_obeyed },
	{ "too large a segment goes in parts", too_large_a_segment_goes_in_parts },
	{ "what cannot be split is lost, by its count", what_cannot_be_split_is_lost_by_count },
	{ "what another life took the name of goes under a name by its content",
	  taken_name_costs_nothing },
	{ "where that is taken too, what else it held is kept",
	  taken_twice_loses_just_what_it_names },
	{ "a dead receiver costs nothing but time", dead_receiver_costs_nothing_but_time },
	{ "segments share a connection, and one that was closed costs nothing",
	  closed_connection_costs_nothing },
	{ "a machine that is gone is noticed, and costs nothing", silent_machine_is_noticed },
	{ "a connection is replaced after its life", connection_is_replaced_after_its_life },
	{ "a connection cut before the answer neither loses nor doubles a segment",
	  connection_cut_before_the_answer_counts_once },
	{ "a stop cuts a slow transfer and keeps the segment",
	  stop_cuts_a_slow_transfer_and_keeps_the_segment },
	{ "a damaged file of the spool is set aside", damaged_spool_file_is_set_aside },
	{ "bad urls are refused", bad_urls_are_refused },
};

int main(void)
{
	int ret;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	ret = tap_run(tests, TAP_NR(tests));
	curl_global_cleanup();
	return ret;
}
