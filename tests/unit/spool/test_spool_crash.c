/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a power cut, a flipped bit or a cut file may leave of a spool and its account.
 * BLKCAST_ENDURANCE=1: 20 states after each call, every bit (of the account each third) and every
 * length; else a sample.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory/buf.h"
#include "formats/account/account_file.h"
#include "tests/support/crash_states.h"
#include "tests/support/faulty_calls.h"
#include "tests/support/sample.h"
#include "tests/support/spool_life.h"
#include "tests/support/tap.h"

#define MAX_START_S 5.0

static bool is_long(void)
{
	return getenv("BLKCAST_ENDURANCE") != NULL;
}

struct totals {
	uint64_t nr, nr_stuck, nr_missing, nr_altered, nr_twice, nr_short, nr_silent;
};

static void note_bad(const struct totals *before, const struct totals *t, const char *what,
		     uint64_t a, uint64_t b, const struct life_end *end)
{
	if (memcmp(&before->nr_stuck, &t->nr_stuck, sizeof(*t) - sizeof(t->nr)))
		tap_note(
			"%s %llu, %llu: known %llu, missing %llu, gap %d; twice %llu short %llu silent %llu stuck %llu",
			what, (unsigned long long)a, (unsigned long long)b,
			(unsigned long long)end->known, (unsigned long long)end->nr_missing,
			end->has_gap, (unsigned long long)t->nr_twice,
			(unsigned long long)t->nr_short, (unsigned long long)t->nr_silent,
			(unsigned long long)t->nr_stuck);
}

static void report(const struct totals *t)
{
	ok_eq(t->nr_stuck, 0);
	ok_eq(t->nr_missing, 0);
	ok_eq(t->nr_altered, 0);
	ok_eq(t->nr_twice, 0);
	ok_eq(t->nr_short, 0);
	ok_eq(t->nr_silent, 0);
	tap_note("%llu states", (unsigned long long)t->nr);
}

/* Another boot finds the state: nothing promised is lost or counted twice, the rest is a gap. */
static void judge_cut(struct life *l, size_t nr_calls, uint64_t seed, const struct call *calls,
		      struct totals *t)
{
	const char *dir = sample_folder();
	struct totals before = *t;
	struct life_end end;

	crash_state_make(calls, nr_calls, seed, dir);
	life_check(l, dir, "b2", nr_calls + 1, &end);
	t->nr++;
	t->nr_stuck += !end.started || end.start_s > MAX_START_S;
	t->nr_missing += end.nr_missing;
	t->nr_altered += end.nr_altered;
	t->nr_twice += end.known > life_seen_most(l, nr_calls + 1);
	t->nr_short += end.known < life_promised(l, nr_calls + 1);
	t->nr_silent += end.known < life_seen_least(l, nr_calls + 1) && !end.has_gap;
	note_bad(&before, t, "call, seed", nr_calls, seed, &end);
	sample_remove(dir);
}

static void power_cuts(void)
{
	char dir[64];
	struct totals t = { 0 };
	const struct call *calls;
	struct life *l;
	size_t nr;

	snprintf(dir, sizeof(dir), "%s", sample_folder());
	l = life_new(dir);
	calls_record(dir);
	life_run(l);
	nr = calls_recorded(&calls);
	calls_record(NULL);
	ok(l->finished && nr > 500);
	for (size_t i = 1; i <= nr; i += is_long() ? 1 : 5)
		for (uint64_t seed = 0; seed < (is_long() ? 20 : 5); seed++)
			judge_cut(l, i, seed + (seed > 1 ? i : 0), calls, &t);
	report(&t);
	sample_remove(dir);
	life_free(l);
}

struct file {
	char name[64];
	struct buf data;
};

static size_t read_all(const char *dir, struct file *out, size_t max)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	size_t nr = 0;

	while (d && (e = readdir(d)) && nr < max) {
		char path[160];
		FILE *f;

		if (e->d_name[0] == '.' || !strcmp(e->d_name, "lock"))
			continue;
		snprintf(path, sizeof(path), "%s/%.64s", dir, e->d_name);
		snprintf(out[nr].name, sizeof(out[nr].name), "%.63s", e->d_name);
		buf_init(&out[nr].data);
		f = fopen(path, "r");
		for (int c; f && (c = getc(f)) != EOF;)
			buf_put_u8(&out[nr].data, (uint8_t)c);
		if (f)
			fclose(f);
		nr++;
	}
	if (d)
		closedir(d);
	return nr;
}

/*
 * One file of a good spool is damaged: the others come through, and where that file was needed a
 * gap says so. Nothing is counted twice.
 */
static void judge_damage(struct life *l, const char *dir, const struct file *files, size_t nr,
			 size_t damaged, const uint8_t *data, size_t len, struct totals *t)
{
	struct totals before = *t;
	struct life_end end;
	char path[160];

	sample_remove(dir);
	mkdir(dir, 0700);
	for (size_t i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
		sample_write(path, i == damaged ? data : files[i].data.data,
			     i == damaged ? len : files[i].data.len);
	}
	life_check(l, dir, "b1", SIZE_MAX - 1, &end);
	t->nr++;
	t->nr_stuck += !end.started || end.start_s > MAX_START_S;
	/* The damaged one is missed and said to be; no other. */
	t->nr_missing += end.nr_missing > (strcmp(files[damaged].name, "ledger") ? 1u : 0u);
	t->nr_altered += end.nr_altered;
	t->nr_twice += end.known > life_seen_most(l, SIZE_MAX);
	t->nr_silent += end.known < life_seen_least(l, SIZE_MAX) && !end.has_gap;
	note_bad(&before, t, files[damaged].name, len, 0, &end);
}

static void make_small(char dir[64], struct life **l, struct file *files, size_t max, size_t *nr)
{
	snprintf(dir, 64, "%s", sample_folder());
	*l = life_new(dir);
	life_run(*l);
	*nr = read_all(dir, files, max);
	snprintf(dir, 64, "%s", sample_folder());
}

static void free_small(const char *dir, struct life *l, struct file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		buf_release(&files[i].data);
	sample_remove(dir);
	sample_remove(l->dir);
	life_free(l);
}

static void flipped_bits(void)
{
	struct totals t = { 0 };
	struct file files[32];
	char dir[64];
	struct life *l;
	size_t nr;

	make_small(dir, &l, files, TAP_NR(files), &nr);
	ok(nr > 4);
	for (size_t i = 0; i < nr; i++) {
		struct buf *b = &files[i].data;
		/* The account is large, and one like the other. */
		size_t step = !is_long() ? 211 : strcmp(files[i].name, "ledger") ? 1 : 3;

		for (size_t bit = i; bit < b->len * 8; bit += step) {
			b->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			judge_damage(l, dir, files, nr, i, b->data, b->len, &t);
			b->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	report(&t);
	free_small(dir, l, files, nr);
}

static void cut_files(void)
{
	struct totals t = { 0 };
	struct file files[32];
	char dir[64];
	struct life *l;
	size_t nr;

	make_small(dir, &l, files, TAP_NR(files), &nr);
	for (size_t i = 0; i < nr; i++)
		for (size_t len = 0; len < files[i].data.len; len += is_long() ? 1 : 61)
			judge_damage(l, dir, files, nr, i, files[i].data.data, len, &t);
	report(&t);
	free_small(dir, l, files, nr);
}

static const struct tap_test tests[] = {
	{ "a power cut after any call loses and doubles nothing promised", power_cuts },
	{ "a flipped bit costs no more than its file, and a gap says so", flipped_bits },
	{ "a file cut at any length costs no more than itself, and a gap says so", cut_files },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
