// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that write a log under a lock, on a slower device. A small simulation of such threads
 * makes what was recorded: each thread thinks, waits for the lock, writes for 1 ms and flushes for
 * 200 us. The slower device serves one request after the other, so that a write or a flush takes
 * longer than its own service only if another thread's is under way.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal_run.h"
#include "analyzer/whatif/simulate/stored_scale.h"
#include "analyzer/whatif/simulate/stored_sim.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define US	    1000ull
#define MS	    1000000ull
#define NR_THREADS  4
#define NR_SECTIONS 200 /* of all threads */
#define NR_MOST	    (4 * NR_SECTIONS)
#define FIRST_TID   100
#define LOCK_NS	    (20 * US) /* from the end of a section to the next one that waits */
#define WRITE_S	    0.003     /* on the slower device */
#define FLUSH_S	    0.0005

struct log_writers {
	bool locked; /* else they write whenever they want */
	bool forced; /* writes are forced, and nobody flushes */
};

static struct request at(uint32_t tid, uint8_t operation, uint64_t arrival_ns, uint64_t end_ns)
{
	return (struct request){ .tid = tid,
				 .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = end_ns,
				 .sector = operation == OPERATION_FLUSH ? 0 : arrival_ns / US * 8,
				 .bytes = operation == OPERATION_FLUSH ? 0 : 4096,
				 .operation = operation };
}

/* Makes what the threads send. The thread that wants the lock first gets it. Returns the number. */
static size_t record(const struct log_writers *w, struct request *r)
{
	uint64_t wants_ns[NR_THREADS], free_ns = 0;
	struct rng rng;
	size_t nr = 0;

	rng_seed(&rng, 7);
	for (int i = 0; i < NR_THREADS; i++)
		wants_ns[i] = MS + (uint64_t)(rng_exponential(&rng) * (double)MS);
	for (int n = 0; n < NR_SECTIONS; n++) {
		uint32_t next = 0;
		uint64_t from_ns;

		for (uint32_t i = 1; i < NR_THREADS; i++)
			next = wants_ns[i] < wants_ns[next] ? i : next;
		from_ns = wants_ns[next];
		if (w->locked && from_ns < free_ns + LOCK_NS)
			from_ns = free_ns + LOCK_NS;
		r[nr] = at(FIRST_TID + next, OPERATION_WRITE, from_ns, from_ns + MS);
		r[nr++].flags = w->forced ? REQUEST_FUA : 0;
		free_ns = from_ns + MS;
		if (!w->forced) {
			r[nr++] = at(FIRST_TID + next, OPERATION_FLUSH, free_ns + 10 * US,
				     free_ns + 210 * US);
			free_ns += 210 * US;
		}
		wants_ns[next] = free_ns + (uint64_t)(rng_exponential(&rng) * 3 * (double)MS);
	}
	return nr;
}

/* Holds the longest write and the longest flush against those of requests that meet no other. */
static void none_meets_another(const struct causal_plan *plan, bool meets)
{
	const struct causal_plan *plans[] = { plan };
	struct stored_result result;
	struct device_model m;
	double write_s;

	device_model_init(&m);
	m.base_s[DEVICE_WRITE] = WRITE_S;
	m.flush_s = FLUSH_S;
	m.domain.concurrency = 128;
	ok_int(stored_sim_run(plans, 1, &m, 1, &result, NULL), 0);
	ok_eq(result.times.nr[DEVICE_WRITE] + result.times.nr[DEVICE_FLUSH], plan->nr);
	write_s = device_times_at(&result.times, DEVICE_WRITE, DEVICE_MEAN);
	if (meets)
		ok(write_s > 1.2 * WRITE_S);
	else
		ok_near(write_s, WRITE_S, 1e-6);
	if (!meets && result.times.nr[DEVICE_FLUSH])
		ok_near(device_times_at(&result.times, DEVICE_FLUSH, DEVICE_MEAN), FLUSH_S, 1e-6);
	stored_result_release(&result);
}

static void a_log_is_written_by_one_thread_at_a_time(void)
{
	struct log_writers w = { .locked = true };
	struct request r[NR_MOST];
	struct causal_plan plan;

	for (int forced = 0; forced < 2; forced++) {
		w.forced = forced;
		ok_int(causal_make(&plan, r, record(&w, r), NULL), 0);
		ok_eq(plan.nr_locks, 1);
		none_meets_another(&plan, false);
		causal_release(&plan);
	}
}

static void threads_without_a_lock_have_none(void)
{
	const struct log_writers w = { .locked = false };
	struct request r[NR_MOST];
	struct causal_plan plan;

	ok_int(causal_make(&plan, r, record(&w, r), NULL), 0);
	ok_eq(plan.nr_locks, 0);
	none_meets_another(&plan, true);
	causal_release(&plan);
}

/* A thread that makes its own file durable every 2 ms does not hide the lock of the others. */
static void who_has_no_part_in_the_log_does_not_hide_the_lock(void)
{
	const struct log_writers w = { .locked = true };
	struct request r[NR_MOST];
	struct causal_plan plan;
	size_t nr = record(&w, r);

	for (uint64_t i = 0; i < NR_SECTIONS / 2; i++) {
		uint64_t from_ns = (2 * i + 1) * MS + i * 617 % 500 * US;

		r[nr++] = at(FIRST_TID + NR_THREADS, OPERATION_WRITE, from_ns, from_ns + MS);
		r[nr++] = at(FIRST_TID + NR_THREADS, OPERATION_FLUSH, from_ns + MS + 10 * US,
			     from_ns + MS + 210 * US);
	}
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok_eq(plan.nr_locks, 1);
	ok_eq(plan.nr_lanes, NR_THREADS + 1);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		ok_eq(plan.lanes[l].lock,
		      plan.lanes[l].tid < FIRST_TID + NR_THREADS ? 0 : CAUSAL_NO_LOCK);
	causal_release(&plan);
}

/* Two databases in control groups of their own have a log each, and so have copies of a load. */
static void each_application_has_a_lock_of_its_own(void)
{
	const struct log_writers w = { .locked = true };
	struct causal_plan plan, twice;
	struct request r[NR_MOST];
	size_t nr = record(&w, r), both = nr;

	for (size_t i = 0; i < nr; i++) {
		r[both] = r[i];
		r[both].tid += NR_THREADS;
		r[both].arrival_ns += MS / 2;
		r[both].dispatch_ns += MS / 2;
		r[both].completion_ns += MS / 2;
		r[both++].cgroup_id = 1;
	}
	ok_int(causal_make(&plan, r, both, NULL), 0);
	ok_eq(plan.nr_locks, 2);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		ok_eq(plan.lanes[l].lock, plan.lanes[l].tid < FIRST_TID + NR_THREADS ? 0 : 1);
	ok_int(stored_scale(&twice, &plan, 2, 1), 0);
	ok_eq(twice.nr_locks, 4);
	for (size_t l = 0; l < twice.nr_lanes; l++)
		ok_eq(twice.lanes[l].lock,
		      2 * (l / plan.nr_lanes) + plan.lanes[l % plan.nr_lanes].lock);
	none_meets_another(&twice, true);
	causal_release(&twice);
	causal_release(&plan);
}

/* A replay to a file takes the lock and gives it back: all requests are sent. */
static void a_replay_gives_locks_back(void)
{
	const struct log_writers w = { .locked = true };
	struct request r[NR_MOST];
	struct causal_result out;
	struct causal_plan plan;
	struct err err = { 0 };
	char dir[64], path[128];
	int fd;

	snprintf(dir, sizeof(dir), "%s", sample_folder());
	snprintf(path, sizeof(path), "%s/target", dir);
	ok_int(causal_make(&plan, r, record(&w, r), NULL), 0);
	sample_write(path, "", 0);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0) {
		sample_remove(dir);
		causal_release(&plan);
		tap_skip("direct", "files of TMPDIR cannot be opened past the page cache");
	}
	close(fd);
	ok_int(truncate(path, (off_t)plan.end_bytes), 0);
	ok_int(causal_runs(&(struct causal_run){ &plan, path, 0, NULL }, 1, &out, &err), 0);
	ok_eq(out.times.nr[DEVICE_WRITE], NR_SECTIONS);
	ok_eq(out.times.nr[DEVICE_FLUSH], NR_SECTIONS);
	causal_result_release(&out);
	causal_release(&plan);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "a log is written by one thread at a time", a_log_is_written_by_one_thread_at_a_time },
	{ "threads without a lock have none", threads_without_a_lock_have_none },
	{ "who has no part in the log does not hide the lock",
	  who_has_no_part_in_the_log_does_not_hide_the_lock },
	{ "each application has a lock of its own", each_application_has_a_lock_of_its_own },
	{ "a replay gives locks back", a_replay_gives_locks_back },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
