/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers and the halves of an account at their bounds, and files of it that are not sound. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/spool/account_half.h"
#include "formats/account/account_file.h"
#include "formats/ledger.h"
#include "tests/support/tap.h"

static uint64_t sum_of(const struct counts *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->nr; i++)
		sum += c->count[i];
	return sum;
}

static void devices_beyond_the_bound_are_counted_together(void)
{
	struct counts c = { 0 };

	counts_add(&c, 5, 0);
	ok_eq(c.nr, 0);
	for (uint32_t i = 1; i <= 100; i++)
		counts_add(&c, i, i);
	ok_eq(c.nr, ACCOUNT_MAX_DEVICES + 1);
	ok_eq(sum_of(&c), 5050);
	ok_eq(counts_get(&c, 64), 64);
	ok_eq(counts_get(&c, 65), 0);
	ok_eq(counts_get(&c, 0), 5050 - 64 * 65 / 2);
	/* Device 0 is there before the bound is met. */
	c = (struct counts){ 0 };
	for (uint32_t i = 0; i < 100; i++)
		counts_add(&c, i, 1);
	ok_eq(c.nr, ACCOUNT_MAX_DEVICES);
	ok_eq(counts_get(&c, 0), 37);
	ok_eq(sum_of(&c), 100);
}

static uint64_t kept_sum(const struct stream_half *s, unsigned int cause)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->nr_losses; i++)
		if (s->losses[i].loss.cause == cause)
			sum += s->losses[i].loss.count;
	return sum;
}

static void losses_beyond_the_bound_are_joined(void)
{
	struct stream_half *s = calloc(1, sizeof(*s));
	struct loss loss = { LOSS_SPOOL_FULL, true, 1, 100, 200, 0 };

	for (uint32_t i = 1; i <= 200; i++) {
		loss.device = i;
		loss.begin_real_ns = 300 - i;
		loss.end_real_ns = 300 + i;
		half_keep_loss(s, &loss);
	}
	ok(s->nr_losses <= ACCOUNT_MAX_LOSSES);
	ok_eq(kept_sum(s, LOSS_SPOOL_FULL), 200);
	ok_eq(s->losses[0].loss.device, 0); /* of many */
	ok_eq(s->losses[0].loss.begin_real_ns, 100);
	ok_eq(s->losses[0].loss.end_real_ns, 500);
	/* Another kind is kept apart while there is room. */
	loss = (struct loss){ LOSS_SPOOL_FULL, false, 0, 1, 2, 7 };
	half_keep_loss(s, &loss);
	ok(!s->losses[s->nr_losses - 1].loss.count_known);
	/* Full of what segments carry: the last one takes it up. */
	for (uint32_t i = 0; i < s->nr_losses; i++)
		s->losses[i].carried_by = 3;
	for (uint32_t i = 0; s->nr_losses < ACCOUNT_MAX_LOSSES; i++) {
		loss = (struct loss){ LOSS_QUARANTINE, true, 1, 1, 2, i };
		half_keep_loss(s, &loss);
		s->losses[s->nr_losses - 1].carried_by = 4;
	}
	loss = (struct loss){ LOSS_SHED, true, 1000, 1, 2, 7 };
	half_keep_loss(s, &loss);
	ok_eq(s->nr_losses, ACCOUNT_MAX_LOSSES);
	ok_eq(s->losses[ACCOUNT_MAX_LOSSES - 1].loss.count, 1001);
	/* Full, one of another cause free: that one. */
	s->losses[9].carried_by = ACCOUNT_NOT_CARRIED;
	half_keep_loss(s, &loss);
	ok(s->losses[9].loss.count >= 1000);
	half_commit(s, 4); /* what 4 carried is told, and only that */
	for (uint32_t i = 0; i < s->nr_losses; i++)
		ok(s->losses[i].carried_by != 4);
	free(s);
}

static void commit_of_another_segment_accounts_nothing(void)
{
	struct stream_half *s = calloc(1, sizeof(*s));

	counts_add(&s->prepared, 8, 10);
	s->prepared_sequence = 5;
	s->is_prepared = 1;
	half_commit(s, 6);
	ok_eq(sum_of(&s->accounted), 0);
	ok(!s->is_prepared);
	half_commit(s, 5); /* no longer prepared */
	ok_eq(sum_of(&s->accounted), 0);
	s->is_prepared = 1;
	half_commit(s, 5);
	ok_eq(counts_get(&s->accounted, 8), 10);
	free(s);
}

static void pending_losses_are_joined_by_cause(void)
{
	struct stream_half *s = calloc(1, sizeof(*s));
	struct ledger lost;
	uint64_t sum = 0, unknown = 0;

	ledger_init(&lost);
	for (uint32_t i = 0; i < 300; i++) {
		struct loss loss = {
			(uint8_t)(i % (i < 40 ? 5 : NR_LOSS_CAUSES)), i % 3 != 0, 0, i, i, i
		};

		loss.count = loss.count_known ? i : 0;
		ok_int(ledger_add(&lost, &loss), 0);
	}
	half_keep_pending(s, &lost);
	ok(s->nr_pending > ACCOUNT_MAX_LOSSES / 2 && s->nr_pending <= ACCOUNT_MAX_LOSSES);
	for (uint64_t i = 0; i < s->nr_pending; i++) {
		sum += s->pending[i].count;
		unknown += !s->pending[i].count_known;
	}
	ok_eq(sum, ledger_sum(&lost));
	ok(unknown > 0);
	ledger_release(&lost);
	free(s);
}

static void ledger_joins_what_touches_alone(void)
{
	struct loss loss = { NR_LOSS_CAUSES, true, 1, 10, 20, 1 };
	struct ledger l, other;

	ledger_init(&l);
	ledger_init(&other);
	ok_int(ledger_add(&l, &loss), -EINVAL);
	loss.cause = LOSS_KERNEL;
	ok_int(ledger_add(&l, &loss), 0);
	loss.begin_real_ns = 21, loss.end_real_ns = 30; /* after it */
	ok_int(ledger_add(&l, &loss), 0);
	ok_eq(l.nr, 2);
	loss.begin_real_ns = 1, loss.end_real_ns = 9; /* before both */
	ok_int(ledger_add(&l, &loss), 0);
	ok_eq(l.nr, 3);
	loss.count_known = false, loss.count = 0;
	ok_int(ledger_add(&l, &loss), 0);
	ok_eq(l.nr, 4);
	loss.count_known = true;
	ok_int(ledger_add(&l, &loss), 0); /* nothing of known count */
	loss.count = 5, loss.device = 2;
	ok_int(ledger_add(&l, &loss), 0);
	ok_eq(l.nr, 5);
	loss.begin_real_ns = 5, loss.end_real_ns = 50;
	ok_int(ledger_add(&l, &loss), 0);
	ok_eq(l.nr, 5);
	ok_eq(ledger_sum(&l), 13);
	l.losses[4].cause = NR_LOSS_CAUSES; /* what cannot be added ends a merge */
	ok_int(ledger_merge(&other, &l), -EINVAL);
	ok_eq(other.nr, 4);
	ledger_release(&l);
	ledger_release(&other);
}

/* A file with one thing in its only copies that no agent writes, under right checksums. */
enum spoil {
	SOUND,
	SPOIL_MAGIC,
	SPOIL_VERSION,
	SPOIL_SIZE,
	SPOIL_ACCOUNTED,
	SPOIL_PREPARED,
	SPOIL_LOSSES,
	SPOIL_PENDING,
	SPOIL_BOOT_ID,
	SPOIL_CAUSE,
	SPOIL_PENDING_CAUSE,
	SPOIL_KNOWN,
	SPOIL_PENDING_KNOWN,
	SPOIL_SERIAL,
	NR_SPOILS,
};

static void spoil(struct account_file *f, enum spoil how)
{
	struct stream_half *s = &f->stream[0];

	account_file_clear(f);
	f->magic[0] ^= how == SPOIL_MAGIC;
	f->version += how == SPOIL_VERSION;
	f->size += how == SPOIL_SIZE;
	if (how == SPOIL_ACCOUNTED)
		s->accounted.nr = ACCOUNT_MAX_DEVICES + 2;
	if (how == SPOIL_PREPARED)
		s->prepared.nr = ACCOUNT_MAX_DEVICES + 2;
	if (how == SPOIL_LOSSES)
		s->nr_losses = ACCOUNT_MAX_LOSSES + 1;
	if (how == SPOIL_PENDING)
		s->nr_pending = ACCOUNT_MAX_LOSSES + 1;
	if (how == SPOIL_BOOT_ID)
		memset(s->boot_id, 'x', sizeof(s->boot_id));
	if (how == SPOIL_CAUSE || how == SOUND) {
		s->nr_losses = 2;
		s->losses[1].loss.cause = how == SOUND ? 0 : NR_LOSS_CAUSES;
	}
	if (how == SPOIL_PENDING_CAUSE || how == SOUND) {
		s->nr_pending = 2;
		s->pending[1].cause = how == SOUND ? 0 : NR_LOSS_CAUSES;
	}
	if (how == SPOIL_KNOWN || how == SPOIL_PENDING_KNOWN) {
		s->nr_losses = s->nr_pending = 1;
		memset(how == SPOIL_KNOWN ? &s->losses[0].loss.count_known
					  : &s->pending[0].count_known,
		       2, 1);
	}
	account_seal_stream(s, how == SPOIL_SERIAL ? 0 : 1);
}

static void unsound_files_are_refused(void)
{
	struct account_file *f = calloc(1, sizeof(*f));
	struct account_choice choice;
	struct err err;

	ok(account_file_is_new(f));
	f->stream[1].identity = 1;
	ok(!account_file_is_new(f));
	for (int how = 0; how < NR_SPOILS; how++) {
		err = (struct err){ 0 };
		spoil(f, how);
		ok_int(account_file_choose(f, &choice, &err), how == SOUND ? 0 : -EBADMSG);
		ok(how == SOUND ? !choice.is_damaged : err.line[0] != 0);
	}
	/* A capture that is not sound is left out, and missed. */
	spoil(f, SOUND);
	f->capture[0].nr_devices = ACCOUNT_MAX_DEVICES + 2;
	account_seal_capture(&f->capture[0], 1);
	ok_int(account_file_choose(f, &choice, &err), 0);
	ok(choice.is_damaged && choice.capture == -1);
	/* The latest of each is chosen, wherever it stands. */
	spoil(f, SOUND);
	f->stream[3] = f->stream[0], f->stream[2] = f->stream[0];
	account_seal_stream(&f->stream[3], 7);
	account_seal_stream(&f->stream[2], 9);
	f->capture[1] = f->capture[0], f->capture[2] = f->capture[0];
	f->capture[2].realtime_ns = 55;
	account_seal_capture(&f->capture[1], 8);
	account_seal_capture(&f->capture[2], 4);
	f->capture[3] = f->capture[0];
	f->capture[3].seal.epoch = 1; /* of another run */
	account_seal_capture(&f->capture[3], 99);
	ok_int(account_file_choose(f, &choice, &err), 0);
	ok_eq(choice.stream, 2);
	ok_int(choice.capture, 1);
	ok_eq(choice.last_realtime_ns, 55);
	ok(!choice.is_damaged);
	f->published_stream = 10; /* one was sealed that is not there */
	ok_int(account_file_choose(f, &choice, &err), 0);
	ok(choice.is_damaged);
	free(f);
}

/*
 * Serials at their end leave no room for a change. The chosen copies are numbered anew, and nothing
 * else of them changes.
 */
static void serials_at_their_end_are_numbered_anew(void)
{
	static const uint64_t ends[][3] = { /* of the stream, of the capture, published */
					    { UINT64_MAX, 1, 1 },
					    { 1, UINT64_MAX - 1, UINT64_MAX - 1 },
					    { ACCOUNT_SERIAL_MAX + 1, 1, 1 },
					    { 1, 1, UINT64_MAX }
	};
	struct account_file *f = aligned_alloc(_Alignof(struct account_file), sizeof(*f));
	struct account_choice choice, again;
	struct err err = { 0 };

	for (size_t i = 0; i < TAP_NR(ends); i++) {
		spoil(f, SOUND);
		f->stream[2] = f->stream[0], f->stream[2].done_sequence = 77;
		account_seal_stream(&f->stream[2], ends[i][0] + (ends[i][0] == 1));
		f->capture[3] = f->capture[0], f->capture[3].realtime_ns = 55;
		account_seal_capture(&f->capture[3], ends[i][1] + (ends[i][1] == 1));
		f->published_stream = ends[i][0];
		f->published_capture = ends[i][2];
		ok_int(account_file_choose(f, &choice, &err), 0);
		account_file_make_room(f, &choice);
		ok_int(account_file_choose(f, &again, &err), 0);
		ok(again.stream == 2 && again.capture == 3 && !again.is_damaged);
		ok_eq(f->stream[2].seal.serial, 1);
		ok_eq(f->capture[3].seal.serial, 1);
		ok_eq(f->stream[2].done_sequence, 77);
		ok_eq(f->capture[3].realtime_ns, 55);
	}
	/* Below the end nothing changes, and a copy that is missed stays missed. */
	spoil(f, SOUND);
	account_seal_stream(&f->stream[0], ACCOUNT_SERIAL_MAX);
	f->published_stream = ACCOUNT_SERIAL_MAX + 1;
	ok_int(account_file_choose(f, &choice, &err), 0);
	account_file_make_room(f, &choice);
	ok_eq(f->stream[0].seal.serial, ACCOUNT_SERIAL_MAX);
	ok(choice.is_damaged);
	free(f);
}

static const struct tap_test tests[] = {
	{ "devices beyond the bound are counted together",
	  devices_beyond_the_bound_are_counted_together },
	{ "losses beyond the bound are joined, and add up", losses_beyond_the_bound_are_joined },
	{ "the commit of another segment accounts for nothing",
	  commit_of_another_segment_accounts_nothing },
	{ "pending losses are joined by cause, and add up", pending_losses_are_joined_by_cause },
	{ "a ledger joins what touches and nothing else", ledger_joins_what_touches_alone },
	{ "unsound copies of an account are refused", unsound_files_are_refused },
	{ "serials at their end are numbered anew", serials_at_their_end_are_numbered_anew },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
