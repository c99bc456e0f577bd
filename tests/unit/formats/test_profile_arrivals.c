/* SPDX-License-Identifier: Apache-2.0 */
/* What requests found when they arrived, in the text of a profile and where profiles are merged. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_merge.h"
#include "tests/support/tap.h"
#include "tests/support/traffic.h"
#include "workload/window.h"

#define NR	 3000
#define NR_PARTS 4
#define SECOND	 1000000000ull

static void describe(struct profile *p, double begin_s)
{
	memcpy(p->host, "h", 2);
	memcpy(p->device, "8:0", 4);
	p->source = SOURCE_BPF;
	p->begin_s = begin_s;
	p->end_s = begin_s + 2;
	p->quality.coverage_ratio = 1;
	profile_grade(p);
}

/* The profiles of periods that follow one another, of one window that goes on. */
static void profiles_of(struct profile *parts, size_t nr)
{
	static const struct window_config defaults;
	static struct request r[NR];
	struct traffic t = { 1 };
	struct window *w = NULL;

	traffic_random_4k(&t, r, NR, 1ull << 34);
	ok_int(window_new(&w, &defaults, 0), 0);
	for (size_t i = 0; i < nr; i++) {
		profile_init(&parts[i]);
		ok_int(window_add_many(w, r + i * NR / nr, NR / nr), 0);
		ok_int(window_profile(w, 2 * SECOND * (i + 1), &parts[i]), 0);
		window_clear(w, 2 * SECOND * (i + 1));
		describe(&parts[i], 2 * (double)i);
	}
	window_free(w);
}

/* The profile as JSON. */
static json_t *value_of(const struct profile *p)
{
	struct buf text = { 0 };
	json_t *value;

	ok_int(profile_to_json(p, PROFILE_JSON_LINE, &text), 0);
	value = json_loadb((const char *)text.data, text.len, 0, NULL);
	buf_release(&text);
	return value;
}

static const json_t *at(const json_t *root, const char *path)
{
	const char *dot;

	for (; root && (dot = strchr(path, '.')); path = dot + 1)
		root = json_object_getn(root, path, (size_t)(dot - path));
	return json_object_get(root, path);
}

/* The error when the list is replaced. */
static void refuses(const char *direction, const char *key, const char *list, const char *want)
{
	struct profile p, q = { .source = 0 };
	struct err err = { 0 };
	char path[64], *text;
	json_t *root;

	profiles_of(&p, 1);
	root = value_of(&p);
	snprintf(path, sizeof(path), "arrivals.%s", direction);
	json_object_set_new((json_t *)at(root, path), key, json_loads(list, 0, NULL));
	text = json_dumps(root, 0);
	ok_int(profile_from_json(text, strlen(text), &q, &err), -EINVAL);
	ok_str(err.line, want);
	free(text);
	json_decref(root);
	profile_release(&p);
}

static void lists_are_checked(void)
{
	refuses("write", "seek_distance_sectors", "[[0, 2900], [8, 200]]",
		"arrivals.write.seek_distance_sectors: expected no more counts than requests");
	refuses("write", "seek_distance_sectors", "[[7, 1]]",
		"arrivals.write.seek_distance_sectors[0]: expected buckets of the grid in "
		"ascending order");
	refuses("write", "seek_distance_sectors", "[[8, 1], [8, 1]]",
		"arrivals.write.seek_distance_sectors[1]: expected buckets of the grid in "
		"ascending order");
	refuses("write", "seek_distance_sectors", "[[0, 0]]",
		"arrivals.write.seek_distance_sectors[0]: expected a count above 0");
	refuses("write", "seek_distance_sectors", "[[0, 1.5]]",
		"arrivals.write.seek_distance_sectors[0]: expected a whole number of 0 or more, "
		"and not too large");
	refuses("write", "seek_distance_sectors", "[[0, 1, 2]]",
		"arrivals.write.seek_distance_sectors[0]: expected an array of two values");
	refuses("write", "seek_distance_sectors", "{}",
		"arrivals.write.seek_distance_sectors: expected an array or null");
	refuses("read", "outstanding", "[[1024, 1], [1026, 1]]",
		"arrivals.read.outstanding[1]: expected buckets of the grid in ascending order");
	refuses("read", "interarrival_s", "[[456, 1]]",
		"arrivals.read.interarrival_s[0]: expected buckets of the grid in ascending "
		"order");
}

static void read_again(struct profile *p)
{
	struct err err = { 0 };
	struct buf text;

	buf_init(&text);
	if (profile_to_json(p, PROFILE_JSON_LINE, &text))
		abort();
	profile_release(p);
	ok_int(profile_from_json((const char *)text.data, text.len, p, &err), 0);
	buf_release(&text);
}

/* Nothing is written of what did not happen, and reading and copying keep all counts. */
static void lists_are_sparse(void)
{
	struct profile p, q = { .source = 0 };
	json_t *root, *again;

	profiles_of(&p, 1);
	root = value_of(&p);
	ok(at(root, "arrivals.read.outstanding") && !at(root, "arrivals.other"));
	read_again(&p);
	again = value_of(&p);
	ok(json_equal(json_object_get(root, "arrivals"), json_object_get(again, "arrivals")));
	ok_int(profile_copy(&q, &p), 0);
	ok(q.read.arrivals[TALLY_SEEK].counts != p.read.arrivals[TALLY_SEEK].counts);
	profile_undivide(&q);
	read_again(&q);
	ok_eq(arrival_tally_total(&q.undivided_arrivals[TALLY_SEEK]), NR - 1);
	ok_eq(arrival_tally_total(&q.undivided_arrivals[TALLY_OUTSTANDING]), NR);
	ok_eq(arrival_tally_total(&q.read.arrivals[TALLY_OUTSTANDING]), 0);
	json_decref(root);
	json_decref(again);
	profile_release(&q);
	profile_release(&p);
	root = value_of(&p);
	ok(root && !at(root, "arrivals"));
	json_decref(root);
}

static void merged_counts_are_those_of_the_whole(void)
{
	struct profile parts[NR_PARTS], whole;
	json_t *sum, *want;

	profiles_of(&whole, 1);
	profiles_of(parts, NR_PARTS);
	for (size_t i = 0; i < NR_PARTS; i++)
		read_again(&parts[i]);
	for (size_t i = 1; i < NR_PARTS; i++)
		ok_int(profile_merge(&parts[0], &parts[i]), 0);
	sum = value_of(&parts[0]);
	want = value_of(&whole);
	ok(json_object_get(want, "arrivals"));
	ok(json_equal(json_object_get(sum, "arrivals"), json_object_get(want, "arrivals")));
	ok_eq(arrival_tally_total(&parts[0].read.arrivals[TALLY_OUTSTANDING]),
	      parts[0].requests[OPERATION_READ]);
	json_decref(sum);
	json_decref(want);
	for (size_t i = 0; i < NR_PARTS; i++)
		profile_release(&parts[i]);
	profile_release(&whole);
}

static const struct tap_test tests[] = {
	{ "lists that contradict their grid or the requests are refused", lists_are_checked },
	{ "lists without counts are left out, and others are kept", lists_are_sparse },
	{ "merged profiles have the counts of the whole", merged_counts_are_those_of_the_whole },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
