/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spool and account, and the store's intake, killed at random instants again and again on the same
 * files: what was acknowledged is there once, and the books are exact. KILLS (200) of either side,
 * SEED repeats the choice of instants.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/store/intake/ingest.h"
#include "tests/support/sample.h"
#include "tests/support/spool_life.h"
#include "tests/support/tap.h"

#define CHILD_S 60u

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The kernel kills this process that long from now. */
static void die_in(uint64_t ns)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec when = { .it_value = { (time_t)(ns / 1000000000u),
						 (long)(ns % 1000000000u) + 1 } };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
		_exit(99);
}

struct kills {
	struct rng rng;
	uint64_t wanted, nr_killed, nr_finished, nr_crashed;
	uint64_t whole_ns; /* an undisturbed run takes about that long */
};

static void kills_init(struct kills *k)
{
	*k = (struct kills){ .wanted = number_of("KILLS", 200), .whole_ns = 10000000 };
	rng_seed(&k->rng, number_of("SEED", 20260101));
}

/* Runs it in a child that dies within about the time it takes; 1 killed, 0 it came to its end. */
static int run_killed(struct kills *k, void (*run)(void *ctx), void *ctx)
{
	uint64_t begun_ns, after_ns = (uint64_t)(rng_uniform(&k->rng) * 1.2 * (double)k->whole_ns);
	int status = 0;
	pid_t pid;

	fflush(stdout);
	begun_ns = now_ns();
	pid = fork();
	if (!pid) {
		alarm(CHILD_S);
		die_in(after_ns);
		run(ctx);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		abort();
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		k->nr_killed++;
		k->whole_ns += k->whole_ns / 32; /* so that some always come to their end */
		return 1;
	}
	k->nr_crashed += !WIFEXITED(status) || WEXITSTATUS(status);
	k->nr_finished++;
	k->whole_ns = (3 * k->whole_ns + (now_ns() - begun_ns)) / 4;
	return 0;
}

/* One after another on new files, until as many as wanted died. */
static void kill_all(void (*one)(struct kills *k, void *ctx), void *ctx)
{
	struct kills k;

	kills_init(&k);
	while (k.nr_killed < k.wanted)
		one(&k, ctx);
	ok_eq(k.nr_killed, k.wanted);
	ok_eq(k.nr_crashed, 0);
	tap_note("%llu kills, %llu runs that ended", (unsigned long long)k.nr_killed,
		 (unsigned long long)k.nr_finished);
}

/* ---- the agent's side ---- */

static void run_life(void *ctx)
{
	life_run_once(ctx);
}

/* Where a death left open whether the last requests had been counted, they may be missing. */
static uint64_t left_open(const struct life *l, size_t since)
{
	size_t last = l->nr_seen - 1;

	if (l->nr_seen <= since || l->seen[last].at != SIZE_MAX)
		return 0;
	return l->seen[last].nr - (last ? l->seen[last - 1].nr : 0);
}

struct sums {
	uint64_t nr_lives, nr_stuck, nr_missing, nr_altered, nr_lost, nr_twice;
	uint64_t nr_segments, nr_seen, nr_open;
	double slowest_start_s;
};

static void one_life(struct kills *k, void *ctx)
{
	struct sums *s = ctx;
	struct life *l = life_new(sample_folder());
	struct life_end end;
	uint64_t open = 0, seen;

	for (int i = 0; i < LIFE_MAX_RUNS && k->nr_killed < k->wanted; i++) {
		size_t since = l->nr_seen;

		run_killed(k, run_life, l);
		open += left_open(l, since);
	}
	life_check(l, l->dir, "b1", SIZE_MAX, &end);
	seen = l->nr_seen ? l->seen[l->nr_seen - 1].nr : 0;
	s->nr_lives++;
	s->nr_stuck += !end.started;
	s->nr_missing += end.nr_missing;
	s->nr_altered += end.nr_altered;
	s->nr_twice += end.known > seen;
	s->nr_lost += end.known + open < seen;
	s->nr_segments += l->nr_segments;
	s->nr_seen += seen;
	s->nr_open += open;
	if (end.start_s > s->slowest_start_s)
		s->slowest_start_s = end.start_s;
	sample_remove(l->dir);
	life_free(l);
}

static void agents_side(void)
{
	struct sums s = { 0 };

	kill_all(one_life, &s);
	ok_eq(s.nr_stuck, 0);
	ok_eq(s.nr_missing, 0);
	ok_eq(s.nr_altered, 0);
	ok_eq(s.nr_lost, 0);
	ok_eq(s.nr_twice, 0);
	tap_note(
		"%llu segments, %llu requests, of which %llu were being counted at a death; slowest start "
		"%.4f s",
		(unsigned long long)s.nr_segments, (unsigned long long)s.nr_seen,
		(unsigned long long)s.nr_open, s.slowest_start_s);
}

/* ---- the analyzer's side ---- */

#define RUN_SEGMENTS	   30u /* a run takes up to so many */
#define MAX_SEGMENTS	   2000u
#define JOURNAL_BYTES	   4096u /* some are retired in each run */
#define REQUESTS_A_SEGMENT 3u

/* Memory that killed children share. */
struct intake {
	char dir[64];
	uint64_t next;	   /* the first that was not acknowledged */
	uint64_t nr_twice; /* said to be stored a second time */
	uint64_t nr_refused;
};

static void make_segment(uint64_t i, struct segment_name *name, struct buf *out)
{
	struct sample s = { .host = i % 2 ? "web1" : "db1",
			    .boot_id = i % 16 < 8 ? "b1" : "b2",
			    .epoch = 5 + i / 500,
			    .sequence = i,
			    .real_offset_ns = SAMPLE_REAL_NS,
			    .begin_ns = i * 1000,
			    .end_ns = i * 1000 + 1000 };
	struct request requests[REQUESTS_A_SEGMENT];

	buf_clear(out);
	sample_requests(i, s.begin_ns, s.end_ns, requests, REQUESTS_A_SEGMENT);
	sample_segment(&s, requests, REQUESTS_A_SEGMENT, out);
	*name = (struct segment_name){ .epoch = s.epoch, .sequence = i };
	snprintf(name->host, sizeof(name->host), "%s", s.host);
	snprintf(name->boot_id, sizeof(name->boot_id), "%s", s.boot_id);
}

static void take_some(void *ctx)
{
	struct intake *in = ctx;
	struct ingest_result result;
	struct segment_name name;
	struct ingest *ingest;
	struct store *store;
	struct buf data;

	if (store_open(&store, in->dir, true, NULL) || ingest_new(&ingest, store))
		_exit(3);
	ingest_limit_journal(ingest, JOURNAL_BYTES);
	buf_init(&data);
	for (uint64_t left = RUN_SEGMENTS; left && in->next < MAX_SEGMENTS; left--) {
		make_segment(in->next, &name, &data);
		/*
		 * One in four is sent once more after its answer, as after an answer that was lost.
		 */
		for (int again = 0; again < (in->next % 4 ? 1 : 2); again++) {
			if (ingest_put(ingest, &name, data.data, data.len, &result, NULL))
				in->nr_refused++;
			else
				in->nr_twice += again && result.stored;
		}
		in->next++;
	}
	buf_release(&data);
	ingest_free(ingest);
	store_close(store);
}

struct kept {
	uint64_t nr_stuck, nr_lost, nr_altered, nr_surplus, nr_twice, nr_refused, nr;
};

/* What was acknowledged is there as it was; besides at most the one that was on its way. */
static void check_store(const struct intake *in, struct kept *t)
{
	struct buf want, got;
	struct store *store;

	if (store_open(&store, in->dir, true, NULL) || store_sync(store, NULL)) {
		t->nr_stuck++;
		return;
	}
	buf_init(&want);
	buf_init(&got);
	for (uint64_t i = 0; i < in->next; i++) {
		struct segment_name name;
		char path[SEGMENT_PATH_MAX];

		make_segment(i, &name, &want);
		segment_name_path(&name, path);
		if (store_read(store, path, &got, NULL))
			t->nr_lost++;
		else
			t->nr_altered +=
				got.len != want.len || memcmp(got.data, want.data, got.len) != 0;
	}
	t->nr_surplus += store_sync_result(store)->nr_segments > in->next + 1;
	t->nr_lost += store_sync_result(store)->nr_segments < in->next;
	t->nr += in->next;
	t->nr_twice += in->nr_twice;
	t->nr_refused += in->nr_refused;
	buf_release(&want);
	buf_release(&got);
	store_close(store);
}

static void one_store(struct kills *k, void *ctx)
{
	struct kept *t = ctx;
	struct intake *in =
		mmap(NULL, sizeof(*in), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (in == MAP_FAILED)
		abort();
	snprintf(in->dir, sizeof(in->dir), "%s", sample_folder());
	while (k->nr_killed < k->wanted && in->next < MAX_SEGMENTS)
		run_killed(k, take_some, in);
	check_store(in, t);
	sample_remove(in->dir);
	munmap(in, sizeof(*in));
}

static void analyzers_side(void)
{
	struct kept t = { 0 };

	kill_all(one_store, &t);
	ok_eq(t.nr_stuck, 0);
	ok_eq(t.nr_lost, 0);
	ok_eq(t.nr_altered, 0);
	ok_eq(t.nr_surplus, 0);
	ok_eq(t.nr_twice, 0);
	ok_eq(t.nr_refused, 0);
	tap_note("%llu segments acknowledged", (unsigned long long)t.nr);
}

static const struct tap_test tests[] = {
	{ "a spool killed at random instants loses nothing and its books are exact", agents_side },
	{ "a store killed at random instants keeps each acknowledged segment once",
	  analyzers_side },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
