/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short stories of a spool, an account and a segment, with an error at each of their calls and no
 * memory at each of their allocations: a failure is told, and what was promised is there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/capture/stream.h"
#include "agent/spool/account.h"
#include "agent/spool/spool.h"
#include "agent/spool/spool_ledger.h"
#include "agent/spool/tally.h"
#include "formats/segment/segment.h"
#include "tests/support/faulty_calls.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define MAX_POINTS	   1000
#define NR_NAMES	   12
#define LEN		   100
#define NR_STREAM_PROFILES 256 /* MAX_PROFILES of stream.c */

struct held {
	bool now[NR_NAMES];  /* promised, and neither acknowledged nor told lost */
	bool kept[NR_NAMES]; /* it may be there all the same: its file could not be removed */
	unsigned int nr_lost, nr_gone;
};

static void on_lost(void *ctx, enum loss_cause cause, const struct spool_name *name,
		    const void *data, size_t len, const struct spool_content *content)
{
	struct held *h = ctx;

	(void)cause, (void)name, (void)data, (void)len, (void)content;
	h->nr_lost++;
}

static void on_gone(void *ctx, const struct spool_name *name, bool is_gone)
{
	struct held *h = ctx;

	h->nr_gone++;
	if (is_gone)
		h->now[name->sequence] = false;
}

static void on_acknowledged(void *ctx, const struct spool_name *name)
{
	struct held *h = ctx;

	h->now[name->sequence] = false;
	h->kept[name->sequence] = true;
}

static int open_spool(struct spool **s, const char *dir, uint64_t max_files, struct held *h)
{
	struct spool_config config = { .dir = dir,
				       .max_files = (uint32_t)max_files,
				       .lost = on_lost,
				       .gone = on_gone,
				       .acknowledged = on_acknowledged,
				       .ctx = h };
	struct err err = { 0 };
	int ret;

	*s = NULL;
	ret = spool_open(s, &config, &err);
	calls_pause();
	if (!ret != !err.line[0] || !ret != !!*s)
		ok(false);
	calls_resume();
	return ret;
}

static void append(struct spool *s, uint64_t sequence, struct held *h)
{
	struct spool_name name = { 5, sequence };
	char data[LEN];

	memset(data, 'a' + (int)sequence, sizeof(data));
	h->now[sequence] = !spool_append(s, &name, data, sizeof(data), NULL);
}

/* Whether the spool's index is what was promised. */
static bool index_is(struct spool *s, const struct held *h)
{
	size_t nr = 0;

	for (uint64_t i = 0; i < NR_NAMES; i++) {
		if (spool_holds(s, &(struct spool_name){ 5, i }) != h->now[i])
			return false;
		nr += h->now[i];
	}
	return spool_files(s) == nr && spool_bytes(s) == nr * LEN;
}

static bool peek(struct spool *s)
{
	struct spool_name name;
	struct buf data = { 0 };
	int ret = spool_peek(s, &name, &data);

	buf_release(&data);
	return !ret;
}

static bool spool_story(const char *dir, struct held *h)
{
	struct spool_name third = { 5, 2 };
	struct spool *s;
	bool is_right;

	if (open_spool(&s, dir, 4, h))
		return true;
	for (uint64_t i = 0; i < 4; i++)
		append(s, i, h);
	if (peek(s))
		spool_ack(s);
	spool_unpeek(s);
	if (peek(s))
		spool_quarantine(s, "refused");
	spool_unpeek(s);
	if (spool_forget(s, &third))
		h->now[2] = false;
	for (uint64_t i = 4; i < 9; i++) { /* the oldest go */
		if (i == 7)
			peek(s);
		append(s, i, h);
	}
	spool_quarantine(s, "refused");
	calls_pause();
	is_right = index_is(s, h) && h->nr_lost == h->nr_gone;
	calls_resume();
	spool_close(s);
	return is_right;
}

/* The next start: all that was promised is there as it was, and nothing that was refused. */
static bool spool_is_whole(const char *dir, const struct held *h)
{
	bool found[NR_NAMES] = { false }, is_right = true;
	struct spool_name name;
	struct buf data = { 0 };
	struct held none = { 0 };
	struct spool *s;

	if (open_spool(&s, dir, 0, &none))
		return false;
	while (!spool_peek(s, &name, &data)) {
		found[name.sequence] = true;
		is_right &= data.len == LEN && data.data[0] == 'a' + name.sequence;
		spool_ack(s);
	}
	is_right &= !spool_files(s) && !spool_bytes(s);
	for (int i = 0; i < NR_NAMES; i++)
		is_right &= h->now[i] ? found[i] : !found[i] || h->kept[i];
	spool_close(s);
	buf_release(&data);
	return is_right;
}

/* True while the plan's point is reached. */
static bool try_spool(const struct calls_plan *plan)
{
	const char *dir = sample_folder();
	struct held h = { 0 };
	uint64_t met;
	bool is_right;

	calls_begin(plan);
	is_right = spool_story(dir, &h);
	met = calls_end();
	if (!ok(is_right && spool_is_whole(dir, &h)))
		tap_note("mode %d, point %llu, error %d", plan->mode, (unsigned long long)plan->at,
			 plan->error);
	sample_remove(dir);
	return met >= plan->at;
}

static const int errors[] = { EIO, ENOSPC, ENOENT, EINTR, 0 };

static void every_point(bool (*try)(const struct calls_plan *plan))
{
	struct calls_plan plan = { 0 };

	for (int from = 0; from < 2; from++) {
		for (size_t i = 0; i < TAP_NR(errors); i++) {
			plan.mode = from ? CALLS_FAIL_FROM : CALLS_FAIL_ONCE;
			plan.error = errors[i];
			for (plan.at = 1; plan.at < MAX_POINTS && try(&plan); plan.at++)
				;
			ok(plan.at > 2 && plan.at < MAX_POINTS);
		}
		plan.mode = from ? CALLS_NO_MEMORY_FROM : CALLS_NO_MEMORY_ONCE;
		for (plan.at = 1; plan.at < MAX_POINTS && try(&plan); plan.at++)
			;
		ok(plan.at > 1 && plan.at < MAX_POINTS);
	}
}

static void spool_keeps_its_promises(void)
{
	every_point(try_spool);
}

/* A start over many files without memory says so; the next one finds them all. */
static void start_without_memory_loses_nothing(void)
{
	const char *dir = sample_folder();
	struct held h = { 0 };
	struct spool *s;
	uint64_t at = 0;
	char path[160];
	int ret;

	for (int i = 0; i < 70; i++) {
		snprintf(path, sizeof(path), "%s/%020d-%010d.seg", dir, 5, i);
		sample_write(path, "x", 1);
	}
	do {
		calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, ++at, 0 });
		ret = open_spool(&s, dir, 0, &h);
		calls_end();
		ok(!ret || ret == -ENOMEM);
	} while (ret && at < MAX_POINTS);
	ok(at > 2);
	ok_eq(spool_files(s), 70);
	ok_eq(spool_bytes(s), 70);
	spool_close(s);
	sample_remove(dir);
}

struct run {
	char path[96];
	uint64_t seen, durable; /* requests */
};

static int open_account(struct account **a, const char *path)
{
	struct account_config config = { .path = path, .boot_id = "boot", .watches_all = true };
	struct err err = { 0 };
	int ret;

	*a = NULL;
	ret = account_open(a, &config, &err);
	calls_pause();
	if (!ret != !err.line[0] || !ret != !!*a)
		ok(false);
	calls_resume();
	return ret;
}

static void account_story(struct run *r)
{
	struct account_base base = { 8, 0 };
	struct account_count ten = { 8, 10, 10 }, four = { 8, 4, 4 };
	struct loss loss = { LOSS_SPOOL_FULL, true, 3, 1, 2, 8 };
	struct ledger lost = { .losses = &loss, .nr = 1 };
	struct account *a;

	if (open_account(&a, r->path))
		return;
	account_begin(a, 1, 1000, &base, 1);
	account_seen(a, 1100, &ten, 1);
	r->seen = 10;
	account_prepare(a, 0, &four, 1);
	account_commit(a, 0);
	account_drop_begin(a, 1, 0, &lost); /* three of the four are lost again */
	account_drop_end(a, true);
	r->durable = 1;
	account_acknowledged(a, 1, 0);
	account_close(a);
}

static bool try_account(const struct calls_plan *plan)
{
	const char *dir = sample_folder();
	struct account_base base = { 8, 10 };
	struct ledger left, again;
	struct run r = { .seen = 0 };
	struct account *a;
	uint64_t met;

	snprintf(r.path, sizeof(r.path), "%s/account", dir);
	calls_begin(plan);
	account_story(&r);
	met = calls_end();
	ok_int(open_account(&a, r.path), 0);
	base.completed = r.seen;
	account_begin(a, 2, 2000, &base, 1);
	ledger_init(&left);
	ledger_init(&again);
	/* What cannot be taken now comes with the next segment. */
	calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, 1, 0 });
	ok_int(account_take(a, 0, &left), r.seen ? -ENOMEM : 0);
	calls_end();
	ok_int(account_take(a, 0, &again), 0);
	if (!ok_eq(ledger_sum(&again) + r.durable, r.seen))
		tap_note("mode %d, point %llu, error %d", plan->mode, (unsigned long long)plan->at,
			 plan->error);
	ledger_release(&left);
	ledger_release(&again);
	account_close(a);
	sample_remove(dir);
	return met >= plan->at;
}

static void account_stays_exact(void)
{
	every_point(try_account);
}

#define NR_REQUESTS 700

static void fill_header(struct segment_header *h, const struct ledger *ledger)
{
	static const struct segment_device devices[] = { { 8, 1 << 30, "sda", "" } };
	static const struct segment_process processes[] = { { 1, "init" } };
	static const struct segment_cgroup cgroups[] = { { 1, "/" } };
	static const char *const profiles[] = { "{}", "[]" };

	*h = (struct segment_header){ .host = "h", .ledger = ledger };
	h->devices = devices, h->nr_devices = 1;
	h->processes = processes, h->nr_processes = 1;
	h->cgroups = cgroups, h->nr_cgroups = 1;
	h->profiles = profiles, h->nr_profiles = 2;
}

static struct request *make_requests(void)
{
	struct request *r = calloc(NR_REQUESTS, sizeof(*r));

	sample_requests(4, 1000, 900000, r, NR_REQUESTS);
	for (uint32_t i = 0; i < NR_REQUESTS; i++) {
		r[i].tid = i; /* more issuers than one plane tells apart */
		r[i].sector = (uint64_t)i * 7919 % 100003 * 8 + i % 5;
		r[i].bytes = 512 * (1 + i % 300);
	}
	return r;
}

/* Writes it without memory at one allocation after the other: what fails can be done again. */
static void write_segment(struct buf *out)
{
	struct request *r = make_requests();
	struct loss loss = { LOSS_SHED, true, 9, 1, 2, 8 };
	struct ledger ledger = { .losses = &loss, .nr = 1 };
	struct segment_writer *w = NULL;
	struct segment_header h;
	uint64_t at = 0;
	int ret;

	fill_header(&h, &ledger);
	do {
		calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, ++at, 0 });
		ret = segment_writer_new(&w);
		calls_end();
		ok(!ret || (ret == -ENOMEM && !w));
	} while (ret && at < MAX_POINTS);
	for (uint32_t i = 0; i < NR_REQUESTS; i++)
		if (segment_writer_add(w, &r[i]))
			ok(false);
	at = 0;
	do {
		calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, ++at, 0 });
		ret = segment_writer_finish(w, &h, out);
		calls_end();
		ok(!ret || ret == -ENOMEM);
		ok_eq(segment_writer_count(w), ret ? NR_REQUESTS : 0);
		ok(!ret || !out->len);
		if (ret) { /* the next try begins without the room that this one got */
			buf_release(out);
			buf_init(out);
		}
	} while (ret && at < MAX_POINTS);
	ok(at > 5);
	segment_writer_free(w);
	free(r);
}

static void segment_is_written_and_read_once_there_is_memory(void)
{
	struct buf b = { 0 };
	uint64_t met = 0, at = 0;
	int ret;

	write_segment(&b);
	do {
		struct segment_reader *s = NULL;
		struct err err = { 0 };

		calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, ++at, 0 });
		ret = segment_reader_new(&s, b.data, b.len, &err);
		met = calls_end();
		if (ret) {
			ok_int(ret, -ENOMEM);
			ok(!s && strstr(err.line, "memory"));
			continue;
		}
		ok_eq(segment_reader_count(s), NR_REQUESTS);
		ok_eq(segment_reader_header(s)->ledger->losses[0].count, 9);
		segment_reader_free(s);
	} while (met >= at && at < MAX_POINTS);
	ok(!ret && at > 12);
	buf_release(&b);
}

/* Without memory a tally says so, or is of unknown count; never of a wrong one. */
static void tally_is_right_or_unknown(void)
{
	struct buf b = { 0 };
	uint64_t met, at = 0;

	write_segment(&b);
	do {
		struct ledger l;
		int ret;

		ledger_init(&l);
		calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, ++at, 0 });
		ret = tally_segment(b.data, b.len, LOSS_QUARANTINE, &l);
		met = calls_end();
		if (ret)
			ok_int(ret, -ENOMEM);
		else if (l.nr == 1 && !l.losses[0].count_known)
			ok_eq(ledger_sum(&l), 0);
		else
			ok_eq(ledger_sum(&l), NR_REQUESTS + 9);
		ledger_release(&l);
	} while (met >= at && at < MAX_POINTS);
	ok(at > 12 && at < MAX_POINTS);
	buf_release(&b);
}

static void loss_without_memory_is_still_told(void)
{
	struct spool_ledger l = { 0 };
	struct spool_config c = { 0 };
	const struct spool_content content = { .nr_requests = SPOOL_UNKNOWN };
	struct spool_name name = { 1, 3 };
	const char *dir = sample_folder();
	struct buf b = { 0 };
	struct ledger left;
	char path[96];

	write_segment(&b);
	snprintf(path, sizeof(path), "%s/account", dir);
	ok_int(open_account(&l.account, path), 0);
	account_begin(l.account, 1, 1000, NULL, 0);
	spool_ledger_connect(&l, &c);
	calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_FROM, 1, 0 });
	c.lost(c.ctx, LOSS_SPOOL_FULL, &name, b.data, b.len, &content);
	c.gone(c.ctx, &name, true);
	calls_end();
	ledger_init(&left);
	ok_int(account_take(l.account, 4, &left), 0);
	ok(left.nr == 1 && !left.losses[0].count_known && left.losses[0].cause == LOSS_SPOOL_FULL);
	ledger_release(&left);
	account_close(l.account);
	buf_release(&b);
	sample_remove(dir);
}

/* A segment has all the profiles that it can have, and there is no memory to close it. */
static void stream_takes_no_more_profiles_than_it_holds(void)
{
	struct stream_config config = { .host = "h", .boot_id = "b", .interval_ns = UINT64_MAX };
	struct stream *s = NULL;
	struct buf json = { 0 };
	int ret = 0;

	buf_printf(&json, "{}");
	if (!ok(!stream_new(&s, &config)))
		return;
	for (int i = 0; i < NR_STREAM_PROFILES; i++)
		ret |= stream_profile(s, &json);
	ok_int(ret, 0);
	calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, 1, 0 });
	ok_int(stream_profile(s, &json), -ENOMEM);
	calls_end();
	stream_free(s);
	buf_release(&json);
}

static const struct tap_test tests[] = {
	{ "a spool keeps its promises whatever call fails", spool_keeps_its_promises },
	{ "a start without memory loses nothing", start_without_memory_loses_nothing },
	{ "an account stays exact whatever call fails", account_stays_exact },
	{ "a segment is written and read once there is memory",
	  segment_is_written_and_read_once_there_is_memory },
	{ "a tally without memory is right or of unknown count", tally_is_right_or_unknown },
	{ "a stream without memory takes no more profiles than it holds",
	  stream_takes_no_more_profiles_than_it_holds },
	{ "a loss without the memory to count it is still told",
	  loss_without_memory_is_still_told },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
