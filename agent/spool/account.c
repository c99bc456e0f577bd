/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/spool/account.h"
#include "agent/spool/account_copies.h"
#include "agent/spool/account_half.h"
#include "agent/spool/account_state.h"
#include "agent/guest/identity.h"

static const struct capture_half nothing_seen;

/*
 * Returns whether a loss of this cause happened after the capture, between the pipeline and its
 * sink.
 */
static bool is_on_way(uint8_t cause)
{
	return cause == LOSS_SPOOL_FULL || cause == LOSS_SPOOL_ERROR || cause == LOSS_QUARANTINE;
}

void account_keep_loss(struct account *a, struct stream_half *s, const struct loss *loss)
{
	if (loss_is_pause(loss) || (loss->count_known && !loss->count))
		return;
	a->total[loss->cause] += loss->count;
	if (a->has_begun && is_on_way(loss->cause)) {
		a->nr_lost_on_way += loss->count;
		a->has_gap_on_way |= !loss->count_known;
	}
	half_keep_loss(s, loss);
}

static void keep_ledger(struct account *a, struct stream_half *s, const struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->nr; i++)
		account_keep_loss(a, s, &ledger->losses[i]);
}

/* The agent died between prepare and commit. Whether the segment exists decides what to do. */
static void settle_prepared(struct account *a, const struct account_config *config)
{
	const struct stream_half *now = copies_stream(&a->copies);
	struct stream_half *s;
	bool durable;

	if (!now->is_prepared)
		return;
	durable = now->is_acknowledged ||
		  (config->is_durable &&
		   config->is_durable(config->ctx, now->seal.epoch, now->prepared_sequence));
	s = copies_edit_stream(&a->copies);
	if (durable)
		half_commit(s, s->prepared_sequence);
	s->is_prepared = s->is_acknowledged = 0;
	copies_publish_stream(&a->copies);
}

/*
 * Takes over the state that the run before left. A state that cannot be read becomes a gap of
 * unknown content.
 */
static void take_up(struct account *a)
{
	struct account_choice choice;
	struct err why = { 0 };

	if (account_file_is_new(a->copies.file)) {
		/*
		 * There are segments but no account, so the account was removed and its counts are
		 * lost.
		 */
		a->is_damaged = a->last_epoch != 0;
		a->damaged_since_ns = a->last_epoch;
		account_file_clear(a->copies.file);
		a->found = &a->copies.file->capture[0];
		return;
	}
	a->is_damaged = account_file_choose(a->copies.file, &choice, &why) < 0;
	if (choice.last_realtime_ns)
		a->damaged_since_ns = choice.last_realtime_ns;
	if (a->is_damaged) {
		log_say(a->copies.log, LEVEL_WARN, "ledger_damaged", "why=\"%s\"", why.line);
		account_file_clear(a->copies.file);
		a->found = &a->copies.file->capture[0];
		return;
	}
	a->is_damaged = choice.is_damaged;
	account_file_make_room(a->copies.file, &choice);
	a->copies.stream_now = (int)choice.stream;
	atomic_store(&a->copies.capture_now, choice.capture < 0 ? 0 : choice.capture);
	a->found = choice.capture < 0 ? &nothing_seen : copies_capture(&a->copies);
	if (identity_differs(copies_stream(&a->copies)->identity, a->identity)) {
		/* This disk is a copy. The original machine reports the counts of its account. */
		log_say(a->copies.log, LEVEL_WARN, "ledger_of_another_machine", "epoch=%" PRIu64,
			copies_stream(&a->copies)->seal.epoch);
		a->is_other_machine = true;
	}
}

/*
 * Ends a drop: the content of the segment counts as lost from now on, or was not lost at all. The
 * lock must be held.
 */
static void end_drop(struct account *a, bool is_gone)
{
	struct stream_half *s = copies_edit_stream(&a->copies);

	for (uint64_t i = 0; is_gone && i < s->nr_pending; i++)
		account_keep_loss(a, s, &s->pending[i]);
	s->is_dropping = 0;
	s->nr_pending = 0;
	copies_publish_stream(&a->copies);
}

/* The agent died while it dropped a segment; the drop is completed now. */
static void settle_drop(struct account *a, const struct account_config *config)
{
	const struct stream_half *now = copies_stream(&a->copies);

	if (now->is_dropping)
		end_drop(a, !config->forget || config->forget(config->ctx, now->dropping_epoch,
							      now->dropping_sequence));
}

static void account_settle(struct account *a, const struct account_config *config)
{
	const struct stream_half *now = copies_stream(&a->copies);

	if (now->has_done && config->forget_through)
		config->forget_through(config->ctx, now->done_epoch, now->done_sequence);
	settle_drop(a, config);
	settle_prepared(a, config);
}

int account_open(struct account **out, const struct account_config *config, struct err *err)
{
	struct account *a = calloc(1, sizeof(*a));
	int ret;

	if (!a)
		return err_set(err, ENOMEM, "no memory for the agent's account");
	pthread_mutex_init(&a->drop_lock, NULL);
	a->watches_all = config->watches_all;
	a->identity = config->identity;
	memccpy(a->boot_id, config->boot_id, 0, sizeof(a->boot_id) - 1);
	a->copies.log = config->log;
	ret = copies_open(&a->copies, config->path, err);
	if (ret)
		goto out;
	a->path = strdup(config->path);
	if (!a->path)
		ret = err_set(err, ENOMEM, "no memory for the agent's account");
	if (ret)
		goto out;
	a->damaged_since_ns = a->copies.modified_ns;
	if (config->last_epoch)
		a->last_epoch = config->last_epoch(config->ctx);
	take_up(a);
	/* The state that was found may exist only in the kernel's memory, not on the disk. */
	copies_sync(&a->copies);
	account_settle(a, config);
	*out = a;
	return 0;
out:
	account_close(a);
	return ret;
}

void account_end(struct account *a)
{
	const struct capture_half *now = copies_capture(&a->copies);
	const struct counts *accounted = &copies_stream(&a->copies)->accounted;
	uint64_t seen = 0, durable = 0, epoch = now->seal.epoch, realtime_ns = now->realtime_ns;

	for (uint32_t i = 0; i < now->nr_devices; i++)
		seen += now->devices[i].nr;
	for (uint32_t i = 0; i < accounted->nr; i++)
		durable += accounted->count[i];
	if (!a->has_begun || seen > durable)
		return;
	*copies_edit_capture(&a->copies) =
		(struct capture_half){ .realtime_ns = realtime_ns, .seal.epoch = epoch };
	copies_publish_capture(&a->copies);
	copies_sync(&a->copies);
}

void account_close(struct account *a)
{
	if (!a)
		return;
	copies_close(&a->copies);
	pthread_mutex_destroy(&a->drop_lock);
	free(a->path);
	free(a);
}

uint64_t account_next_epoch(const struct account *a, uint64_t realtime_ns)
{
	uint64_t last = copies_stream(&a->copies)->seal.epoch;

	if (a->last_epoch > last)
		last = a->last_epoch;

	return realtime_ns > last ? realtime_ns : last + 1;
}

const struct seen_device *account_find_seen(const struct capture_half *c, uint32_t device)
{
	for (uint32_t i = 0; i < c->nr_devices; i++)
		if (c->devices[i].device == device)
			return &c->devices[i];
	return NULL;
}

static void seen_put(struct capture_half *c, const struct account_count *count)
{
	struct seen_device *at = NULL;
	uint32_t device = count->device;

	for (uint32_t i = 0; i < c->nr_devices && !at; i++)
		if (c->devices[i].device == device)
			at = &c->devices[i];
	if (!at && c->nr_devices >= ACCOUNT_MAX_DEVICES) {
		device = 0;
		at = (struct seen_device *)account_find_seen(c, 0);
	}
	if (!at) {
		at = &c->devices[c->nr_devices++];
		*at = (struct seen_device){ .device = device };
	}
	at->nr += count->nr;
	at->nr_countable += count->nr_countable;
}

void account_seen(struct account *a, uint64_t realtime_ns, const struct account_count *counts,
		  size_t nr)
{
	struct capture_half *c = copies_edit_capture(&a->copies);

	*c = *copies_capture(&a->copies);
	c->seal.checksum = 0;
	c->realtime_ns = realtime_ns;
	for (uint32_t i = 0; i < c->nr_devices; i++)
		c->devices[i].nr = c->devices[i].nr_countable = 0;
	for (size_t i = 0; i < nr; i++)
		seen_put(c, &counts[i]);
	copies_publish_capture(&a->copies);
}

int account_take(struct account *a, uint64_t sequence, struct ledger *out)
{
	struct stream_half *s;
	int ret = 0;

	pthread_mutex_lock(&a->copies.lock);
	if (copies_stream(&a->copies)->nr_losses) {
		s = copies_edit_stream(&a->copies);
		for (uint32_t i = 0; i < s->nr_losses; i++) {
			if (s->losses[i].carried_by != ACCOUNT_NOT_CARRIED)
				continue;
			ret = ledger_add(out, &s->losses[i].loss);
			if (ret)
				break;
			s->losses[i].carried_by = sequence;
		}
		copies_publish_stream(&a->copies);
	}
	pthread_mutex_unlock(&a->copies.lock);
	return ret;
}

void account_prepare(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr)
{
	struct stream_half *s;

	pthread_mutex_lock(&a->copies.lock);
	s = copies_edit_stream(&a->copies);
	s->prepared.nr = 0;
	for (size_t i = 0; i < nr; i++)
		counts_add(&s->prepared, counts[i].device, counts[i].nr);
	s->prepared_sequence = sequence;
	s->is_prepared = 1;
	s->is_acknowledged = 0;
	copies_publish_stream(&a->copies);
	pthread_mutex_unlock(&a->copies.lock);
	copies_sync(&a->copies);
}

void account_commit(struct account *a, uint64_t sequence)
{
	pthread_mutex_lock(&a->copies.lock);
	half_commit(copies_edit_stream(&a->copies), sequence);
	copies_publish_stream(&a->copies);
	pthread_mutex_unlock(&a->copies.lock);
}

void account_give_up(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr, const struct ledger *lost)
{
	struct stream_half *s;

	pthread_mutex_lock(&a->copies.lock);
	s = copies_edit_stream(&a->copies);
	for (size_t i = 0; i < nr; i++)
		counts_add(&s->accounted, counts[i].device, counts[i].nr);
	for (uint32_t i = 0; i < s->nr_losses; i++)
		if (s->losses[i].carried_by == sequence)
			s->losses[i].carried_by = ACCOUNT_NOT_CARRIED;
	if (s->prepared_sequence == sequence)
		s->is_prepared = s->is_acknowledged = 0;
	keep_ledger(a, s, lost);
	copies_publish_stream(&a->copies);
	pthread_mutex_unlock(&a->copies.lock);
}

void account_acknowledged(struct account *a, uint64_t epoch, uint64_t sequence)
{
	struct stream_half *s;

	pthread_mutex_lock(&a->copies.lock);
	s = copies_edit_stream(&a->copies);
	if (s->seal.epoch == epoch && s->is_prepared && s->prepared_sequence == sequence)
		s->is_acknowledged = 1;
	if (!s->has_done || epoch > s->done_epoch ||
	    (epoch == s->done_epoch && sequence > s->done_sequence)) {
		s->has_done = 1;
		s->done_epoch = epoch;
		s->done_sequence = sequence;
	}
	copies_publish_stream(&a->copies);
	pthread_mutex_unlock(&a->copies.lock);
	copies_sync(&a->copies);
}

void account_drop_begin(struct account *a, uint64_t epoch, uint64_t sequence,
			const struct ledger *lost)
{
	struct stream_half *s;

	pthread_mutex_lock(&a->drop_lock);
	pthread_mutex_lock(&a->copies.lock);
	s = copies_edit_stream(&a->copies);
	s->is_dropping = 1;
	s->dropping_epoch = epoch;
	s->dropping_sequence = sequence;
	half_keep_pending(s, lost);
	copies_publish_stream(&a->copies);
	pthread_mutex_unlock(&a->copies.lock);
	copies_sync(&a->copies);
}

void account_drop_end(struct account *a, bool is_gone)
{
	pthread_mutex_lock(&a->copies.lock);
	end_drop(a, is_gone);
	pthread_mutex_unlock(&a->copies.lock);
	pthread_mutex_unlock(&a->drop_lock);
}

bool account_has_untold(struct account *a)
{
	const struct stream_half *s;
	bool any = false;

	pthread_mutex_lock(&a->copies.lock);
	s = copies_stream(&a->copies);
	for (uint32_t i = 0; i < s->nr_losses && !any; i++)
		any = s->losses[i].carried_by == ACCOUNT_NOT_CARRIED;
	pthread_mutex_unlock(&a->copies.lock);
	return any;
}

int account_check(const struct account *a, struct err *err)
{
	struct stat open, named;

	if (fstat(a->copies.fd, &open))
		return 0;
	/*
	 * Without the right to look at the path, only the number of names shows whether the file is
	 * there.
	 */
	if (open.st_nlink && stat(a->path, &named))
		named = errno == ENOENT || errno == ENOTDIR ? (struct stat){ 0 } : open;
	if (open.st_nlink && named.st_ino == open.st_ino && named.st_dev == open.st_dev)
		return 0;
	return err_set(err, ESTALE,
		       "%s: this file of the agent, or a folder above it, was removed or replaced "
		       "while the agent ran: what was stored there may be gone",
		       a->path);
}

uint64_t account_lost_on_way(struct account *a, bool *is_at_least)
{
	uint64_t nr;

	pthread_mutex_lock(&a->copies.lock);
	nr = a->nr_lost_on_way;
	*is_at_least = a->has_gap_on_way;
	pthread_mutex_unlock(&a->copies.lock);
	return nr;
}

void account_losses(struct account *a, uint64_t total[NR_LOSS_CAUSES])
{
	pthread_mutex_lock(&a->copies.lock);
	memcpy(total, a->total, sizeof(a->total));
	pthread_mutex_unlock(&a->copies.lock);
}
