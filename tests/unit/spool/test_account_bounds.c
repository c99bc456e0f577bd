/* SPDX-License-Identifier: Apache-2.0 */
/* The account at its bounds, and what a spool tells it: what is lost is all told. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/spool/account.h"
#include "agent/spool/spool_ledger.h"
#include "agent/spool/tally.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

struct rig {
	char dir[64], path[160];
	uint64_t last_epoch, through_epoch, through_sequence;
	struct account *a;
};

static void rig_make(struct rig *r)
{
	*r = (struct rig){ 0 };
	snprintf(r->dir, sizeof(r->dir), "%s", sample_folder());
	snprintf(r->path, sizeof(r->path), "%s/account", r->dir);
}

static uint64_t last_epoch(void *ctx)
{
	return ((struct rig *)ctx)->last_epoch;
}

static void forget_through(void *ctx, uint64_t epoch, uint64_t sequence)
{
	struct rig *r = ctx;

	r->through_epoch = epoch;
	r->through_sequence = sequence;
}

static int rig_open(struct rig *r, bool watches_all)
{
	struct account_config config = { .path = r->path,
					 .boot_id = "boot",
					 .watches_all = watches_all,
					 .last_epoch = last_epoch,
					 .forget_through = forget_through,
					 .ctx = r };
	struct err err = { 0 };
	int ret;

	r->a = NULL;
	ret = account_open(&r->a, &config, &err);
	ok(!ret == !err.line[0] && !ret == !!r->a);
	return ret;
}

static struct ledger rig_take(struct rig *r)
{
	struct ledger l;

	ledger_init(&l);
	ok_int(account_take(r->a, 0, &l), 0);
	return l;
}

static void files_that_cannot_be_had_are_named(void)
{
	struct account *first;
	struct rig r;

	rig_make(&r);
	account_close(NULL);
	ok_int(rig_open(&r, true), 0);
	account_end(r.a); /* of a run that never began: nothing */
	first = r.a;
	ok_int(rig_open(&r, true), -EBUSY);
	account_close(first);
	snprintf(r.path, sizeof(r.path), "%s/none/account", r.dir);
	ok_int(rig_open(&r, true), -ENOENT);
	/* A name without a folder is one of the folder that we are in. */
	ok(!chdir(r.dir));
	snprintf(r.path, sizeof(r.path), "account-here");
	ok_int(rig_open(&r, true), 0);
	account_close(r.a);
	ok(!access("account-here", F_OK) && !chdir("/"));
	sample_remove(r.dir);
}

/* A run of more devices than the account holds dies: what is lost adds up. */
static void many_devices_add_up(void)
{
	struct account_count seen[100], done[100];
	struct account_base bases[100];
	struct ledger l;
	struct rig r;

	rig_make(&r);
	for (uint32_t i = 0; i < 100; i++) {
		bases[i] = (struct account_base){ 1 + i, 0 };
		seen[i] = (struct account_count){ 1 + i, 10, 10 };
		done[i] = (struct account_count){ 1 + i, 4, 4 };
	}
	seen[99].device = seen[98].device; /* told in two parts */
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 1, 1000, bases, 100);
	account_seen(r.a, 1500, seen, 100);
	account_prepare(r.a, 0, done, 100);
	account_commit(r.a, 0);
	account_end(r.a); /* not all is durable: it stays a death */
	account_close(r.a);
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 2, 2000, NULL, 0);
	l = rig_take(&r);
	ok_eq(l.total[LOSS_AGENT_DIED], 600);
	ok_eq(ledger_sum(&l), 600);
	ledger_release(&l);
	account_prepare(r.a, 0, NULL, 0);
	account_commit(r.a, 0);
	account_end(r.a); /* all is */
	account_close(r.a);
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 3, 3000, NULL, 0);
	l = rig_take(&r);
	ok_eq(l.nr, 0);
	account_close(r.a);
	sample_remove(r.dir);
}

/* What one run leaves to the next, which begins at that time with that count of the kernel. */
static void check_next(bool first_all, bool second_all, uint64_t at_ns, uint64_t completed,
		       bool is_known, uint64_t want)
{
	struct account_base base = { 8, 1000 };
	struct account_count seen = { 8, 10, 10 }, none = { 0 };
	struct ledger l;
	struct rig r;

	rig_make(&r);
	ok_int(rig_open(&r, first_all), 0);
	account_begin(r.a, 1, 5000, &base, 1);
	account_seen(r.a, 6000, &seen, 1);
	account_prepare(r.a, 0, &seen, 1);
	account_commit(r.a, 0);
	account_close(r.a);
	ok_int(rig_open(&r, second_all), 0);
	base.completed = completed;
	account_begin(r.a, 2, at_ns, &base, 1);
	account_seen(r.a, at_ns, &none, 1);
	l = rig_take(&r);
	ok_eq(ledger_sum(&l), want);
	ok_eq(l.nr, is_known && !want ? 0 : 1);
	for (size_t i = 0; i < l.nr; i++) {
		ok(l.losses[i].count_known == is_known);
		ok_eq(l.losses[i].cause, LOSS_NOT_WATCHED);
		ok_eq(l.losses[i].begin_real_ns, at_ns < 6000 ? at_ns : 6000);
		ok_eq(l.losses[i].end_real_ns, at_ns);
	}
	ledger_release(&l);
	account_close(r.a);
	sample_remove(r.dir);
}

static void gaps_are_told_as_far_as_known(void)
{
	check_next(true, true, 7000, 1010, true, 0);
	check_next(true, true, 7000, 1030, true, 20);
	check_next(true, true, 5500, 1030, true, 20); /* the clock was stepped back */
	check_next(true, true, 7000, 3, false, 0);    /* the device was replaced */
	check_next(true, false, 7000, 1030, false, 0);
	check_next(false, true, 7000, 1030, false, 0);
}

/* A run begun again in the same process takes over from itself. */
static void begun_again_it_takes_over_from_itself(void)
{
	struct account_base base = { 8, 100 };
	struct account_count seen = { 8, 10, 10 };
	struct ledger l;
	struct rig r;

	rig_make(&r);
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 1, 1000, &base, 1);
	account_seen(r.a, 1100, &seen, 1);
	base.completed = 115;
	account_begin(r.a, 2, 2000, &base, 1);
	l = rig_take(&r);
	ok_eq(l.total[LOSS_AGENT_DIED], 10);
	ok_eq(l.total[LOSS_NOT_WATCHED], 5);
	ledger_release(&l);
	account_close(r.a);
	sample_remove(r.dir);
}

static void highest_acknowledged_is_kept(void)
{
	static const uint64_t order[][4] = { /* epoch, sequence, and the highest from then on */
					     { 5, 7, 5, 7 }, { 5, 6, 5, 7 }, { 4, 9, 5, 7 },
					     { 5, 8, 5, 8 }, { 6, 1, 6, 1 }, { 6, 1, 6, 1 }
	};
	struct rig r;

	rig_make(&r);
	for (size_t i = 0; i < TAP_NR(order); i++) {
		struct account_count count = { 8, 1, 1 };

		ok_int(rig_open(&r, true), 0);
		account_begin(r.a, 6, 1000, NULL, 0);
		account_prepare(r.a, order[i][1] + (i == 4), &count, 1);
		account_acknowledged(r.a, order[i][0], order[i][1]);
		account_close(r.a);
		ok_int(rig_open(&r, true), 0);
		ok_eq(r.through_epoch, order[i][2]);
		ok_eq(r.through_sequence, order[i][3]);
		account_close(r.a);
	}
	sample_remove(r.dir);
}

/* Segments wait, and the account is gone, or is not to be read. */
static void lost_account_is_a_gap_after_what_waits(void)
{
	static const char *const contents[] = { NULL, "no account" };

	for (size_t i = 0; i < TAP_NR(contents); i++) {
		struct ledger l;
		struct rig r;

		rig_make(&r);
		r.last_epoch = 77;
		if (contents[i])
			sample_write(r.path, contents[i], strlen(contents[i]));
		ok_int(rig_open(&r, true), 0);
		ok_eq(account_next_epoch(r.a, 5), 78);
		ok_eq(account_next_epoch(r.a, 100), 100);
		account_begin(r.a, 1000, 1000, NULL, 0);
		l = rig_take(&r);
		ok_eq(l.nr, 1);
		ok(l.nr && l.losses[0].cause == LOSS_AGENT_DIED && !l.losses[0].count_known);
		ok(l.nr && l.losses[0].begin_real_ns <= 1000 && l.losses[0].end_real_ns == 1000);
		ledger_release(&l);
		account_close(r.a);
		sample_remove(r.dir);
	}
}

static void total_counts_what_was_noted(void)
{
	struct loss losses[] = { { LOSS_SHED, true, 0, 1, 2, 8 }, { LOSS_SHED, true, 3, 1, 2, 8 } };
	struct ledger lost = { .losses = losses, .nr = 2 };
	uint64_t total[NR_LOSS_CAUSES];
	struct account_count count = { 8, 3, 3 };
	struct rig r;

	rig_make(&r);
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 1, 1000, NULL, 0);
	account_prepare(r.a, 4, &count, 1);
	account_give_up(r.a, 4, &count, 1, &lost);
	account_give_up(r.a, 5, NULL, 0, &lost); /* never prepared */
	account_losses(r.a, total);
	ok_eq(total[LOSS_SHED], 6);
	account_drop_begin(r.a, 1, 9, &lost);
	account_drop_end(r.a, false); /* it stays: nothing is lost */
	account_losses(r.a, total);
	ok_eq(total[LOSS_SHED], 6);
	account_drop_begin(r.a, 1, 9, &lost);
	account_drop_end(r.a, true);
	account_losses(r.a, total);
	ok_eq(total[LOSS_SHED], 9);
	account_close(r.a);
	sample_remove(r.dir);
}

/* A death in a drop, found by one that cannot ask for the file: it is taken for gone. */
static void drop_that_nobody_can_finish_is_lost(void)
{
	struct loss loss = { LOSS_SPOOL_FULL, true, 9, 1, 2, 8 };
	struct ledger lost = { .losses = &loss, .nr = 1 }, left;
	char left_by_death[sizeof(struct account_file)];
	struct rig r;
	int fd;

	rig_make(&r);
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 1, 1000, NULL, 0);
	account_drop_begin(r.a, 1, 7, &lost);
	fd = open(r.path, O_RDONLY);
	ok(read(fd, left_by_death, sizeof(left_by_death)) == sizeof(left_by_death));
	close(fd);
	account_drop_end(r.a, false);
	account_close(r.a);
	snprintf(r.path, sizeof(r.path), "%s/copy", r.dir);
	sample_write(r.path, left_by_death, sizeof(left_by_death));
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 2, 2000, NULL, 0);
	left = rig_take(&r);
	ok_eq(left.total[LOSS_SPOOL_FULL], 9);
	ok_eq(ledger_sum(&left), 9);
	ledger_release(&left);
	account_close(r.a);
	sample_remove(r.dir);
}

#define NR_CARRIED 7 /* a loss that the segment tells of */

static void make_segment(struct buf *out, bool steps_back)
{
	struct loss carried = { LOSS_RING_FULL, true, NR_CARRIED, 1, 2, 8 };
	const struct ledger ledger = { .losses = &carried, .nr = 1 };
	struct sample s = { .host = "h",
			    .boot_id = "b",
			    .epoch = 1,
			    .begin_ns = 1000,
			    .end_ns = 9000,
			    .real_offset_ns = SAMPLE_REAL_NS,
			    .ledger = &ledger };
	struct segment_header h = { .host = "h" };
	struct segment_writer *w = NULL;
	struct request r[40];

	sample_requests(3, s.begin_ns, s.end_ns, r, TAP_NR(r));
	if (!steps_back) {
		sample_segment(&s, r, TAP_NR(r), out);
		return;
	}
	h.begin = (struct clock_anchor){ 1000, 1000, 500 };
	h.end = (struct clock_anchor){ 9000, 9000, 200 };
	ok_int(segment_writer_new(&w), 0);
	for (size_t i = 0; i < TAP_NR(r); i++)
		ok_int(segment_writer_add(w, &r[i]), 0);
	ok_int(segment_writer_finish(w, &h, out), 0);
	segment_writer_free(w);
}

static void tally_is_every_request(void)
{
	struct buf b = { 0 };
	struct ledger l;

	ledger_init(&l);
	make_segment(&b, false);
	ok_int(tally_segment(b.data, b.len, LOSS_QUARANTINE, &l), 0);
	ok_eq(l.total[LOSS_QUARANTINE], 40);
	ok_eq(l.total[LOSS_RING_FULL], NR_CARRIED);
	for (size_t i = 0; i < l.nr; i++)
		ok(l.losses[i].count_known);
	ledger_clear(&l);
	buf_clear(&b);
	make_segment(&b, true);
	ok_int(tally_segment(b.data, b.len, LOSS_QUARANTINE, &l), 0);
	ok_eq(ledger_sum(&l), 40);
	for (size_t i = 0; i < l.nr; i++)
		ok(l.losses[i].begin_real_ns == 200 && l.losses[i].end_real_ns == 200);
	ledger_clear(&l);
	b.data[b.len - 1] ^= 1;
	ok_int(tally_segment(b.data, b.len, LOSS_QUARANTINE, &l), -EBADMSG);
	ok_eq(l.nr, 0);
	ledger_release(&l);
	buf_release(&b);
}

static bool has_unknown(const struct ledger *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!l->losses[i].count_known)
			return !l->losses[i].count && !l->losses[i].device &&
			       l->losses[i].cause == LOSS_QUARANTINE;
	return false;
}

/* Wherever it is damaged, what cannot be read of it is said to be missing. */
static void tally_of_a_damaged_segment_is_no_less(void)
{
	struct buf b = { 0 };
	struct ledger l;
	int ret;

	ledger_init(&l);
	make_segment(&b, false);
	for (size_t i = 0; i < b.len; i++) {
		((uint8_t *)b.data)[i] ^= 0x41;
		ret = tally_segment(b.data, b.len, LOSS_QUARANTINE, &l);
		if (!ok(ret == -EBADMSG || has_unknown(&l) ||
			(l.total[LOSS_QUARANTINE] == 40 && l.total[LOSS_RING_FULL] == NR_CARRIED)))
			tap_note("byte %zu of %zu", i, b.len);
		((uint8_t *)b.data)[i] ^= 0x41;
		ledger_clear(&l);
	}
	ledger_release(&l);
	buf_release(&b);
}

static uint64_t noted(struct account *a)
{
	uint64_t total[NR_LOSS_CAUSES];

	account_losses(a, total);
	return total[LOSS_SPOOL_FULL];
}

static void lose(struct spool_config *c, uint64_t epoch, uint64_t sequence, const struct buf *b)
{
	const struct spool_content content = { .nr_requests = 7,
					       .begin_real_ns = 1000,
					       .end_real_ns = 2000 };
	struct spool_name name = { epoch, sequence };

	c->lost(c->ctx, LOSS_SPOOL_FULL, &name, b->data, b->len, &content);
	c->gone(c->ctx, &name, true);
}

static void spool_tells_its_account_what_it_loses(void)
{
	struct loss two = { LOSS_SPOOL_FULL, true, 2, 1, 2, 8 };
	struct ledger partly = { .losses = &two, .nr = 1 };
	struct spool_ledger l = { 0 };
	struct spool_config c = { 0 };
	struct spool_name name = { 1, 3 };
	struct buf b = { 0 };
	struct rig r;

	rig_make(&r);
	make_segment(&b, false);
	spool_ledger_connect(&l, &c);
	lose(&c, 1, 3, &b); /* without an account it does nothing */
	c.acknowledged(c.ctx, &name);
	ok_int(rig_open(&r, true), 0);
	account_begin(r.a, 1, 1000, NULL, 0);
	l.account = r.a;
	lose(&c, 1, 3, &b);
	ok_eq(noted(r.a), 40);
	spool_ledger_lose_only(&l, &name, &partly);
	lose(&c, 1, 3, &b);
	ok_eq(noted(r.a), 42);
	lose(&c, 1, 4, &b); /* another segment is lost in full */
	ok_eq(noted(r.a), 82);
	lose(&c, 2, 3, &b);
	ok_eq(noted(r.a), 122);
	spool_ledger_lose_only(&l, NULL, NULL);
	lose(&c, 1, 3, &b);
	ok_eq(noted(r.a), 162);
	((uint8_t *)b.data)[b.len - 1] ^= 1;
	lose(&c, 1, 5, &b); /* what is known of it counts, as it cannot be read */
	ok_eq(noted(r.a), 169);
	c.acknowledged(c.ctx, &name); /* of another's account */
	account_close(r.a);
	ok_int(rig_open(&r, true), 0);
	ok_eq(r.through_sequence, 0);
	l.account = r.a;
	l.owns_account = true;
	c.acknowledged(c.ctx, &name);
	account_close(r.a);
	ok_int(rig_open(&r, true), 0);
	ok_eq(r.through_sequence, 3);
	account_close(r.a);
	buf_release(&b);
	sample_remove(r.dir);
}

static const struct tap_test tests[] = {
	{ "an account that cannot be had is named", files_that_cannot_be_had_are_named },
	{ "more devices than the account holds add up", many_devices_add_up },
	{ "gaps are told as far as they are known", gaps_are_told_as_far_as_known },
	{ "a run begun again takes over from itself", begun_again_it_takes_over_from_itself },
	{ "the highest acknowledged segment is kept", highest_acknowledged_is_kept },
	{ "an account that is lost is a gap after what waits",
	  lost_account_is_a_gap_after_what_waits },
	{ "the totals count what was noted", total_counts_what_was_noted },
	{ "a drop that nobody can finish is lost", drop_that_nobody_can_finish_is_lost },
	{ "a tally is every request of a segment", tally_is_every_request },
	{ "a tally of a damaged segment is no less, or says so",
	  tally_of_a_damaged_segment_is_no_less },
	{ "a spool tells its account what it loses", spool_tells_its_account_what_it_loses },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
