/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/spool_life.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "agent/spool/spool_ledger.h"
#include "tests/support/faulty_calls.h"
#include "tests/support/sample.h"

#define HOST	  "life"
#define BOOT	  "b1"
#define NR_ROUNDS 24
#define MAX_FILES 5

struct life *life_new(const char *dir)
{
	struct life *l =
		mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (l == MAP_FAILED)
		abort();
	snprintf(l->dir, sizeof(l->dir), "%s", dir);
	return l;
}

void life_free(struct life *l)
{
	munmap(l, sizeof(*l));
}

static size_t stamp(void)
{
	const struct call *calls;

	return calls_recorded(&calls) + 1;
}

static struct life_segment *find(struct life *l, uint64_t epoch, uint64_t sequence)
{
	for (size_t i = 0; i < l->nr_segments; i++)
		if (l->segments[i].epoch == epoch && l->segments[i].sequence == sequence)
			return &l->segments[i];
	return NULL;
}

/*
 * This struct is one run of an agent: its spool, its account, and the code that connects them in
 * the real agent.
 */
struct run {
	struct life *life;
	struct spool *spool;
	struct account *account;
	struct spool_ledger glue;
	struct spool_config config;
	uint64_t epoch, seen;
};

/* Calls the agent's own function, and notes first what is about to be dropped. */
static void note_lost(void *ctx, enum loss_cause cause, const struct spool_name *name,
		      const void *data, size_t len, const struct spool_content *content)
{
	struct run *r = ctx;
	struct spool_config glue = { 0 };
	struct life_segment *s = find(r->life, name->epoch, name->sequence);

	if (s && !s->dropping)
		s->dropping = stamp();
	spool_ledger_connect(&r->glue, &glue);
	glue.lost(glue.ctx, cause, name, data, len, content);
}

static void note_gone(void *ctx, const struct spool_name *name, bool is_gone)
{
	struct run *r = ctx;
	struct spool_config glue = { 0 };

	spool_ledger_connect(&r->glue, &glue);
	glue.gone(glue.ctx, name, is_gone);
}

static void note_acknowledged(void *ctx, const struct spool_name *name)
{
	struct run *r = ctx;
	struct spool_config glue = { 0 };

	spool_ledger_connect(&r->glue, &glue);
	glue.acknowledged(glue.ctx, name);
}

static bool is_durable(void *ctx, uint64_t epoch, uint64_t sequence)
{
	return spool_holds(((struct run *)ctx)->spool, &(struct spool_name){ epoch, sequence });
}

static bool forget(void *ctx, uint64_t epoch, uint64_t sequence)
{
	return spool_forget(((struct run *)ctx)->spool, &(struct spool_name){ epoch, sequence });
}

static void forget_through(void *ctx, uint64_t epoch, uint64_t sequence)
{
	spool_forget_through(((struct run *)ctx)->spool, &(struct spool_name){ epoch, sequence });
}

static uint64_t last_epoch(void *ctx)
{
	return spool_last_epoch(((struct run *)ctx)->spool);
}

static bool run_open(struct run *r, struct life *l, const char *dir, const char *boot_id)
{
	struct account_config account = { .boot_id = boot_id,
					  .is_durable = is_durable,
					  .forget = forget,
					  .forget_through = forget_through,
					  .last_epoch = last_epoch,
					  .ctx = r };
	char path[96];

	snprintf(path, sizeof(path), "%s/ledger", dir);
	account.path = path;
	*r = (struct run){ .life = l, .glue.owns_account = true };
	r->config = (struct spool_config){ .dir = dir,
					   .max_files = MAX_FILES,
					   .lost = note_lost,
					   .gone = note_gone,
					   .acknowledged = note_acknowledged,
					   .ctx = r };
	if (spool_open(&r->spool, &r->config, NULL))
		return false;
	if (account_open(&r->account, &account, NULL)) {
		spool_close(r->spool);
		return false;
	}
	r->glue.account = r->account;
	r->epoch = account_next_epoch(r->account, 1000);
	account_begin(r->account, r->epoch, r->epoch * 1000, NULL, 0);
	return true;
}

static void run_close(struct run *r)
{
	spool_close(r->spool);
	account_close(r->account);
}

/* Requests arrive. Between the two notes it is unknown whether the account has counted them. */
static void see(struct run *r, uint64_t nr)
{
	struct life *l = r->life;
	struct account_count count = { device_make(8, 0), r->seen + nr, r->seen + nr };
	uint64_t before = l->nr_seen ? l->seen[l->nr_seen - 1].nr : 0;

	r->seen += nr;
	l->seen[l->nr_seen] = (struct life_seen){ before + nr, SIZE_MAX };
	l->nr_seen++;
	account_seen(r->account, r->epoch * 1000 + r->seen, &count, 1);
	l->seen[l->nr_seen - 1].at = stamp();
}

static uint64_t known_of(const struct ledger *ledger, bool *has_gap)
{
	for (size_t i = 0; ledger && i < ledger->nr; i++)
		*has_gap |= !ledger->losses[i].count_known;
	return ledger ? ledger_sum(ledger) : 0;
}

/* Spools a segment of nr requests and of the losses that wait. */
static void spool_segment(struct run *r, uint64_t sequence, uint64_t nr)
{
	struct sample sample = { .host = HOST,
				 .boot_id = BOOT,
				 .epoch = r->epoch,
				 .sequence = sequence,
				 .real_offset_ns = SAMPLE_REAL_NS,
				 .begin_ns = sequence * 1000,
				 .end_ns = sequence * 1000 + 1000 };
	struct account_count count = { device_make(8, 0), nr, nr };
	struct life_segment *s = &r->life->segments[r->life->nr_segments];
	struct loss lost = { LOSS_SPOOL_ERROR, true, nr, sequence, sequence, count.device };
	struct ledger given_up = { .losses = &lost, .nr = 1 }, carried;
	struct request requests[8];
	bool has_gap = false;
	struct buf data;
	int ret;

	ledger_init(&carried);
	buf_init(&data);
	ret = account_take(r->account, sequence, &carried);
	calls_pause();
	sample.ledger = &carried;
	sample_requests(sequence, sample.begin_ns, sample.end_ns, requests, nr);
	for (uint64_t i = 0; i < nr; i++)
		requests[i].device = device_make(8, 0);
	sample_segment(&sample, requests, nr, &data);
	*s = (struct life_segment){ .epoch = r->epoch,
				    .sequence = sequence,
				    .nr = nr,
				    .hash = segment_hash_of(data.data, data.len),
				    .lost = known_of(&carried, &has_gap) };
	s->has_gap = has_gap;
	r->life->nr_segments++;
	calls_resume();
	if (!ret) {
		account_prepare(r->account, sequence, &count, 1);
		ret = spool_append(r->spool, &(struct spool_name){ r->epoch, sequence }, data.data,
				   data.len, NULL);
	}
	if (!ret) {
		s->appended = stamp();
		account_commit(r->account, sequence);
	} else {
		account_give_up(r->account, sequence, &count, 1, &given_up);
	}
	calls_pause();
	buf_release(&data);
	ledger_release(&carried);
	calls_resume();
}

/* The receiver takes the oldest segment. It refuses every seventh one for good. */
static void send_oldest(struct run *r)
{
	struct spool_name name;
	struct life_segment *s;
	struct buf data;
	int ret;

	buf_init(&data);
	ret = spool_peek(r->spool, &name, &data);
	s = ret ? NULL : find(r->life, name.epoch, name.sequence);
	if (s && name.sequence % 7 == 3) {
		spool_quarantine(r->spool, "refused");
	} else if (s) {
		if (!s->received)
			s->received = stamp();
		spool_ack(r->spool);
	} else if (ret != -ENOENT) {
		spool_unpeek(r->spool);
	}
	calls_pause();
	buf_release(&data);
	calls_resume();
}

void life_run_once(struct life *l)
{
	struct run r;

	if (!run_open(&r, l, l->dir, BOOT))
		return;
	for (uint64_t i = 0; i < NR_ROUNDS; i++) {
		see(&r, 1 + i % 5);
		spool_segment(&r, i, 1 + i % 5);
		if (i % 8 < 5 && i % 2)
			send_oldest(&r);
	}
	see(&r, 3); /* The run ends before these are in a segment. */
	run_close(&r);
}

void life_run(struct life *l)
{
	life_run_once(l);
	life_run_once(l);
	l->finished = true;
}

uint64_t life_seen_least(const struct life *l, size_t at)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < l->nr_seen && l->seen[i].at <= at; i++)
		if (l->seen[i].at != SIZE_MAX)
			nr = l->seen[i].nr;
	return nr;
}

uint64_t life_seen_most(const struct life *l, size_t at)
{
	size_t i = 0;

	while (i < l->nr_seen && l->seen[i].at <= at && l->seen[i].at != SIZE_MAX)
		i++;
	return l->nr_seen ? l->seen[i < l->nr_seen ? i : l->nr_seen - 1].nr : 0;
}

uint64_t life_promised(const struct life *l, size_t at)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < l->nr_segments; i++)
		if (l->segments[i].appended && l->segments[i].appended <= at)
			nr += l->segments[i].nr;
	return nr;
}

/* Takes out everything that is there. Damaged segments are set aside as the agent does it. */
static void drain(struct run *r, bool is_real, bool there[LIFE_MAX_SEGMENTS], struct life_end *out)
{
	struct spool_name name;
	struct buf data;

	buf_init(&data);
	while (spool_files(r->spool)) {
		struct segment_reader *reader;
		struct life_segment *s;
		struct segment_hash hash;

		if (spool_peek(r->spool, &name, &data) ||
		    segment_reader_new(&reader, data.data, data.len, NULL)) {
			spool_quarantine(r->spool, "damaged");
			continue;
		}
		segment_reader_free(reader);
		s = find(r->life, name.epoch, name.sequence);
		hash = segment_hash_of(data.data, data.len);
		if (!s || memcmp(&hash, &s->hash, sizeof(hash)))
			out->nr_altered++;
		else
			there[s - r->life->segments] = true;
		if (s && is_real && !s->received)
			s->received = stamp();
		spool_ack(r->spool);
	}
	buf_release(&data);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void life_check(struct life *l, const char *dir, const char *boot_id, size_t at,
		struct life_end *out)
{
	bool there[LIFE_MAX_SEGMENTS] = { false };
	double begin_s = now_s();
	struct ledger declared;
	struct run r;

	*out = (struct life_end){ 0 };
	out->started = run_open(&r, l, dir, boot_id);
	out->start_s = now_s() - begin_s;
	if (!out->started)
		return;
	drain(&r, at == SIZE_MAX, there, out);
	for (size_t i = 0; i < l->nr_segments; i++) {
		const struct life_segment *s = &l->segments[i];
		bool received = s->received && s->received <= at;

		if (received || there[i])
			out->has_gap |= s->has_gap;
		if (received || there[i])
			out->known += s->nr + s->lost;
		else if (s->appended && s->appended <= at && !(s->dropping && s->dropping <= at))
			out->nr_missing++;
	}
	ledger_init(&declared);
	if (!account_take(r.account, 0, &declared))
		out->known += known_of(&declared, &out->has_gap);
	ledger_release(&declared);
	run_close(&r);
}
