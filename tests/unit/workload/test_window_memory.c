/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window on a machine that runs out of memory: every allocation of its life is made to fail once,
 * one after another. The allocator's functions are defined here, before those of the C library.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/window.h"

#define NR     30000
#define NR_FEW 2000

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define CAN_FAIL 0
static long left;
static bool failed;
#else
#define CAN_FAIL 1
static long left; /* allocations until one fails; 0: none will */
static bool failed;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);

static bool fails_now(void)
{
	bool now = left && !--left;

	failed |= now;
	return now;
}

void *malloc(size_t size)
{
	return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails_now() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	return fails_now() ? NULL : __libc_realloc(p, size);
}
#endif

struct outcome {
	int error;    /* the first that was returned */
	bool made;    /* both windows came to be */
	bool said_so; /* by the profile, or instead of it */
	uint64_t counted;
	struct access_distribution distribution;
	double footprint_bytes;
	size_t nr_sizes, nr_miss_ratio;
};

/* The C library's qsort() does without memory where it gets none: that failure changes nothing. */
static bool same_estimates(const struct outcome *a, const struct outcome *b)
{
	return !memcmp(&a->distribution, &b->distribution, sizeof(a->distribution)) &&
	       a->footprint_bytes == b->footprint_bytes && a->nr_sizes == b->nr_sizes &&
	       a->nr_miss_ratio == b->nr_miss_ratio;
}

static void note(struct outcome *o, int err)
{
	if (!o->error)
		o->error = err;
}

/* A window is made, fed twice, closed and cleared. */
static struct outcome live(const struct request *r)
{
	const struct window_config config = { .mrc_samples = 1024 };
	struct window *a = NULL;
	struct outcome o = { 0 };
	struct profile p;
	int err;

	profile_init(&p);
	note(&o, window_new(&a, &config, 0));
	o.made = !o.error;
	if (o.made) {
		note(&o, window_add_many(a, r, NR / 2));
		note(&o, window_add_many(a, r + NR / 2, NR / 2));
		o.counted = window_count(a);
		err = window_profile(a, 3000000000, &p);
		note(&o, err);
		o.said_so = err || (p.quality.incomplete && p.quality.why[0]);
		p.end_s = 3;
		profile_grade(&p);
		if (o.said_so && !err)
			ok(p.quality.grade >= 'C');
		o.distribution = p.locality.distribution;
		o.footprint_bytes = p.locality.footprint_bytes;
		o.nr_sizes = p.read.nr_sizes;
		o.nr_miss_ratio = p.locality.nr_miss_ratio;
		window_clear(a, 3000000000);
	}
	left = 0;
	profile_release(&p);
	window_free(a);
	return o;
}

static void every_failure_is_told(void)
{
	struct request *r = malloc(NR * sizeof(*r));
	struct outcome o, undisturbed;
	long at = 0;

	if (!CAN_FAIL)
		tap_skip("unsanitized", "the allocator is the sanitizer's");
	if (!r)
		abort();
	slow_mixed(r, NR, 1, 0, 50000);
	for (size_t i = 0; i < NR; i++) /* sizes that need the map as well */
		r[i].bytes += i % 900 == 0 ? (uint32_t)i : 0;
	undisturbed = live(r);
	ok(!undisturbed.error && !undisturbed.said_so && undisturbed.nr_miss_ratio > 0);
	do {
		failed = false;
		left = ++at;
		o = live(r);
		if (o.error)
			ok(o.error == -ENOMEM && (!o.made || o.said_so));
		else if (!ok(same_estimates(&o, &undisturbed)))
			tap_note("allocation %ld", at);
		/* Whatever is missing, the counts by operation are right. */
		if (o.made)
			ok_eq(o.counted, NR);
	} while (failed);
	tap_note("%ld allocations", at - 1);
	ok(at > 20);
	ok(!o.error && !o.said_so);
	free(r);
}

static const struct tap_test tests[] = {
	{ "each allocation that fails is told, and costs no count", every_failure_is_told },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
