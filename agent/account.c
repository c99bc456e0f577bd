/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/account.h"
#include "agent/account_file.h"

struct account {
	struct account_file *file; /* mapped */
	int fd;
	char boot_id[SEGMENT_NAME_BYTES];
	bool watches_all;
	bool has_begun; /* this run is in the file */
	pthread_mutex_t lock;
	pthread_mutex_t drop_lock;	/* from drop_begin to drop_end: one intent at a time */
	uint64_t total[NR_LOSS_CAUSES]; /* of this run, under the lock */
};

static unsigned int stream_index(const struct account *a)
{
	return atomic_load(&a->file->generation) & STREAM_BIT ? 1 : 0;
}

static unsigned int capture_index(const struct account *a)
{
	return atomic_load(&a->file->generation) & CAPTURE_BIT ? 1 : 0;
}

/* A copy of the current half to change; published by stream_publish(). Under the lock. */
static struct stream_half *stream_edit(struct account *a)
{
	unsigned int now = stream_index(a);

	a->file->stream[!now] = a->file->stream[now];
	a->file->epoch[!now] = a->file->epoch[now];
	memcpy(a->file->boot_id[!now], a->file->boot_id[now], SEGMENT_NAME_BYTES);
	return &a->file->stream[!now];
}

static void stream_publish(struct account *a)
{
	atomic_fetch_xor(&a->file->generation, STREAM_BIT);
}

static void counts_add(struct counts *c, uint32_t device, uint64_t nr)
{
	uint32_t i = 0;

	if (!nr)
		return;
	while (i < c->nr && c->device[i] != device)
		i++;
	if (i == c->nr && c->nr == ACCOUNT_MAX_DEVICES) {
		device = 0;
		for (i = 0; i < c->nr && c->device[i]; i++)
			;
	}
	if (i == c->nr) {
		c->device[c->nr] = device;
		c->count[c->nr++] = 0;
	}
	c->count[i] += nr;
}

static uint64_t counts_get(const struct counts *c, uint32_t device)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->device[i] == device)
			return c->count[i];
	return 0;
}

/* Keeps one loss, joined with a like one that no segment carries yet, or with any when full. */
static void keep_loss(struct account *a, struct stream_half *s, const struct loss *loss)
{
	struct kept_loss *at = NULL;

	if (loss->count_known && !loss->count)
		return;
	a->total[loss->cause] += loss->count;
	for (uint32_t i = 0; i < s->nr_losses && !at; i++) {
		struct loss *l = &s->losses[i].loss;

		if (s->losses[i].carried_by == NOT_CARRIED && l->cause == loss->cause &&
		    l->count_known == loss->count_known &&
		    (l->device == loss->device || s->nr_losses > MAX_LOSSES / 2))
			at = &s->losses[i];
	}
	if (!at && s->nr_losses < MAX_LOSSES) {
		s->losses[s->nr_losses++] = (struct kept_loss){ *loss, NOT_CARRIED };
		return;
	}
	if (!at)
		at = &s->losses[MAX_LOSSES - 1];
	at->loss.count += loss->count;
	if (at->loss.device != loss->device)
		at->loss.device = 0;
	if (loss->begin_real_ns < at->loss.begin_real_ns)
		at->loss.begin_real_ns = loss->begin_real_ns;
	if (loss->end_real_ns > at->loss.end_real_ns)
		at->loss.end_real_ns = loss->end_real_ns;
}

static void keep_ledger(struct account *a, struct stream_half *s, const struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->nr; i++)
		keep_loss(a, s, &ledger->losses[i]);
}

static void forget_carried(struct stream_half *s, uint64_t sequence)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->nr_losses; i++)
		if (s->losses[i].carried_by != sequence)
			s->losses[kept++] = s->losses[i];
	s->nr_losses = kept;
}

static void apply_commit(struct stream_half *s, uint64_t sequence)
{
	if (s->is_prepared && s->prepared_sequence == sequence)
		for (uint32_t i = 0; i < s->prepared.nr; i++)
			counts_add(&s->accounted, s->prepared.device[i], s->prepared.count[i]);
	s->is_prepared = s->is_acknowledged = 0;
	forget_carried(s, sequence);
}

/* Whether the file is one of ours, and all its counts are in range. */
static bool is_sound(const struct account_file *f)
{
	if (memcmp(f->magic, ACCOUNT_MAGIC, sizeof(f->magic)) || f->version != ACCOUNT_VERSION ||
	    f->size != sizeof(*f))
		return false;
	for (int i = 0; i < 2; i++) {
		if (f->capture[i].nr_devices > ACCOUNT_MAX_DEVICES + 1 ||
		    f->stream[i].accounted.nr > ACCOUNT_MAX_DEVICES + 1 ||
		    f->stream[i].prepared.nr > ACCOUNT_MAX_DEVICES + 1 ||
		    f->stream[i].nr_losses > MAX_LOSSES ||
		    !memchr(f->boot_id[i], 0, SEGMENT_NAME_BYTES))
			return false;
		for (uint32_t j = 0; j < f->stream[i].nr_losses; j++)
			if (f->stream[i].losses[j].loss.cause >= NR_LOSS_CAUSES)
				return false;
	}
	return true;
}

static void begin_anew(struct account_file *f)
{
	memset(f, 0, sizeof(*f));
	f->version = ACCOUNT_VERSION;
	f->size = sizeof(*f);
	memcpy(f->magic, ACCOUNT_MAGIC, sizeof(f->magic));
}

/* Opens, locks, preallocates (so that no store can meet a full disk) and maps the file. */
static int map_file(struct account *a, const char *path, struct err *err)
{
	int ret;

	a->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (a->fd < 0)
		return err_set(err, errno, "%s: cannot open the agent's account: %s", path,
			       strerror(errno));
	if (flock(a->fd, LOCK_EX | LOCK_NB))
		return err_set(err, EBUSY, "%s: another agent uses it", path);
	ret = posix_fallocate(a->fd, 0, sizeof(*a->file));
	if (ret)
		return err_set(err, ret, "%s: cannot reserve %zu bytes: %s", path, sizeof(*a->file),
			       strerror(ret));
	a->file = mmap(NULL, sizeof(*a->file), PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	if (a->file == MAP_FAILED) {
		a->file = NULL;
		return err_set(err, errno, "%s: cannot map it: %s", path, strerror(errno));
	}
	return 0;
}

/* A death between prepare and commit: decided by whether the segment is there. */
static void settle_prepared(struct account *a, const struct account_config *config)
{
	const struct stream_half *now = &a->file->stream[stream_index(a)];
	struct stream_half *s;
	bool durable;

	if (!now->is_prepared)
		return;
	durable = now->is_acknowledged ||
		  (config->is_durable &&
		   config->is_durable(config->ctx, a->file->epoch[stream_index(a)],
				      now->prepared_sequence));
	s = stream_edit(a);
	if (durable)
		apply_commit(s, s->prepared_sequence);
	s->is_prepared = s->is_acknowledged = 0;
	stream_publish(a);
}

int account_open(struct account **out, const struct account_config *config, struct err *err)
{
	struct account *a = calloc(1, sizeof(*a));
	int ret;

	if (!a)
		return err_set(err, ENOMEM, "no memory for the agent's account");
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->drop_lock, NULL);
	a->watches_all = config->watches_all;
	memccpy(a->boot_id, config->boot_id, 0, sizeof(a->boot_id) - 1);
	ret = map_file(a, config->path, err);
	if (ret) {
		account_close(a);
		return ret;
	}
	if (!is_sound(a->file))
		begin_anew(a->file);
	settle_prepared(a, config);
	*out = a;
	return 0;
}

void account_end(struct account *a)
{
	struct account_file *f = a->file;
	const struct capture_half *now = &f->capture[capture_index(a)];
	const struct counts *accounted = &f->stream[stream_index(a)].accounted;
	uint64_t seen = 0, durable = 0;

	for (uint32_t i = 0; i < now->nr_devices; i++)
		seen += now->devices[i].nr;
	for (uint32_t i = 0; i < accounted->nr; i++)
		durable += accounted->count[i];
	if (!a->has_begun || seen > durable)
		return;
	f->capture[!capture_index(a)] = (struct capture_half){ .realtime_ns = now->realtime_ns };
	atomic_fetch_xor(&f->generation, CAPTURE_BIT);
}

void account_close(struct account *a)
{
	if (!a)
		return;
	if (a->file)
		munmap(a->file, sizeof(*a->file));
	if (a->fd >= 0)
		close(a->fd);
	pthread_mutex_destroy(&a->drop_lock);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

uint64_t account_next_epoch(const struct account *a, uint64_t realtime_ns)
{
	uint64_t last = a->file->epoch[stream_index(a)];

	return realtime_ns > last ? realtime_ns : last + 1;
}

bool account_dropping(const struct account *a, uint64_t *epoch, uint64_t *sequence)
{
	const struct stream_half *s = &a->file->stream[stream_index(a)];

	if (!s->is_dropping)
		return false;
	*epoch = s->dropping_epoch;
	*sequence = s->dropping_sequence;
	return true;
}

static const struct seen_device *seen_find(const struct capture_half *c, uint32_t device)
{
	for (uint32_t i = 0; i < c->nr_devices; i++)
		if (c->devices[i].device == device)
			return &c->devices[i];
	return NULL;
}

/* The period between the last word of the run before and now. */
static struct loss gap_of(const struct capture_half *old, uint64_t now_real_ns)
{
	struct loss gap = { .count_known = true, .begin_real_ns = old->realtime_ns };

	gap.end_real_ns = now_real_ns;
	if (gap.begin_real_ns > now_real_ns) /* the clock was stepped back */
		gap.begin_real_ns = now_real_ns;
	return gap;
}

static void declare_died(struct account *a, struct stream_half *s, const struct capture_half *old,
			 uint64_t now_real_ns)
{
	struct loss loss = gap_of(old, now_real_ns);
	uint64_t left = 0;

	loss.cause = LOSS_AGENT_DIED;
	loss.end_real_ns = loss.begin_real_ns;
	for (uint32_t i = 0; i < old->nr_devices; i++)
		left += old->devices[i].nr;
	for (uint32_t i = 0; i < s->accounted.nr; i++)
		left -= s->accounted.count[i] < left ? s->accounted.count[i] : left;
	/* The sum holds even where devices beyond the bound were put together differently. */
	for (uint32_t i = 0; i < old->nr_devices; i++) {
		uint64_t accounted = counts_get(&s->accounted, old->devices[i].device);

		loss.device = old->devices[i].device;
		loss.count = old->devices[i].nr > accounted ? old->devices[i].nr - accounted : 0;
		loss.count = loss.count < left ? loss.count : left;
		left -= loss.count;
		keep_loss(a, s, &loss);
	}
}

/*
 * What the kernel counted on a device beyond what the run before had seen. *unplaced is how many
 * lost requests of unknown device are still to be found in those numbers. The base returned in
 * *base makes up for requests seen but not counted yet when the last base was read.
 */
static void declare_unwatched(struct account *a, struct stream_half *s,
			      const struct seen_device *old, struct loss loss,
			      struct account_base *base, uint64_t *unplaced)
{
	uint64_t counted = base->completed - old->base;

	loss.cause = LOSS_NOT_WATCHED;
	loss.device = base->device;
	if (base->completed < old->base || (!counted && old->nr_countable)) {
		/* The device was replaced, or its statistics are switched off. */
		loss.count_known = false;
	} else if (counted < old->nr_countable) {
		base->completed += old->nr_countable - counted;
	} else {
		uint64_t placed;

		loss.count = counted - old->nr_countable;
		placed = loss.count < *unplaced ? loss.count : *unplaced;
		loss.count -= placed;
		*unplaced -= placed;
	}
	keep_loss(a, s, &loss);
}

/* Fills the new capture half with this run's bases, and declares what the old one lacks. */
static void take_over(struct account *a, struct stream_half *s, const struct capture_half *old,
		      struct capture_half *new, const struct account_base *bases, size_t nr)
{
	const struct seen_device *others = seen_find(old, 0);
	bool compares = a->watches_all && old->watches_all;
	uint64_t unplaced = others ? others->nr : 0;

	for (size_t i = 0; i < nr && new->nr_devices < ACCOUNT_MAX_DEVICES; i++) {
		const struct seen_device *seen = seen_find(old, bases[i].device);
		struct account_base base = bases[i];
		struct loss gap = gap_of(old, new->realtime_ns);

		if (seen && seen->has_base && compares) {
			declare_unwatched(a, s, seen, gap, &base, &unplaced);
		} else if (seen) {
			gap.cause = LOSS_NOT_WATCHED;
			gap.device = base.device;
			gap.count_known = false;
			keep_loss(a, s, &gap);
		}
		new->devices[new->nr_devices++] = (struct seen_device){ .device = base.device,
									.has_base = 1,
									.base = base.completed };
	}
}

void account_begin(struct account *a, uint64_t epoch, uint64_t realtime_ns,
		   const struct account_base *bases, size_t nr)
{
	struct account_file *f = a->file;
	const struct capture_half *old = &f->capture[capture_index(a)];
	struct capture_half *new = &f->capture[!capture_index(a)];
	unsigned int next;
	struct stream_half *s;

	pthread_mutex_lock(&a->lock);
	s = stream_edit(a);
	next = !stream_index(a);
	for (uint32_t i = 0; i < s->nr_losses; i++)
		s->losses[i].carried_by = NOT_CARRIED;
	*new = (struct capture_half){ .realtime_ns = realtime_ns, .watches_all = a->watches_all };
	if (f->epoch[next] && strcmp(f->boot_id[next], a->boot_id)) {
		static const struct capture_half nothing;
		struct loss gap = gap_of(old, realtime_ns);

		declare_died(a, s, old, realtime_ns);
		/* Another boot: how much went by cannot be known, only when. */
		gap.cause = LOSS_NOT_WATCHED;
		gap.count_known = false;
		keep_loss(a, s, &gap);
		take_over(a, s, &nothing, new, bases, nr);
	} else {
		if (f->epoch[next])
			declare_died(a, s, old, realtime_ns);
		take_over(a, s, old, new, bases, nr);
	}
	s->accounted.nr = 0;
	s->is_prepared = s->is_acknowledged = s->is_dropping = 0;
	f->epoch[next] = epoch;
	memcpy(f->boot_id[next], a->boot_id, SEGMENT_NAME_BYTES);
	atomic_fetch_xor(&f->generation, CAPTURE_BIT | STREAM_BIT);
	a->has_begun = true;
	pthread_mutex_unlock(&a->lock);
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
		at = (struct seen_device *)seen_find(c, 0);
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
	unsigned int now = capture_index(a);
	struct capture_half *c = &a->file->capture[!now];

	*c = a->file->capture[now];
	c->realtime_ns = realtime_ns;
	for (uint32_t i = 0; i < c->nr_devices; i++)
		c->devices[i].nr = c->devices[i].nr_countable = 0;
	for (size_t i = 0; i < nr; i++)
		seen_put(c, &counts[i]);
	atomic_fetch_xor(&a->file->generation, CAPTURE_BIT);
}

int account_take(struct account *a, uint64_t sequence, struct ledger *out)
{
	struct stream_half *s;
	int ret = 0;

	pthread_mutex_lock(&a->lock);
	if (a->file->stream[stream_index(a)].nr_losses) {
		s = stream_edit(a);
		for (uint32_t i = 0; i < s->nr_losses && !ret; i++) {
			if (s->losses[i].carried_by != NOT_CARRIED)
				continue;
			ret = ledger_add(out, &s->losses[i].loss);
			if (!ret)
				s->losses[i].carried_by = sequence;
		}
		stream_publish(a);
	}
	pthread_mutex_unlock(&a->lock);
	return ret;
}

void account_prepare(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr)
{
	struct stream_half *s;

	pthread_mutex_lock(&a->lock);
	s = stream_edit(a);
	s->prepared.nr = 0;
	for (size_t i = 0; i < nr; i++)
		counts_add(&s->prepared, counts[i].device, counts[i].nr);
	s->prepared_sequence = sequence;
	s->is_prepared = 1;
	s->is_acknowledged = 0;
	stream_publish(a);
	pthread_mutex_unlock(&a->lock);
}

void account_commit(struct account *a, uint64_t sequence)
{
	pthread_mutex_lock(&a->lock);
	apply_commit(stream_edit(a), sequence);
	stream_publish(a);
	pthread_mutex_unlock(&a->lock);
}

void account_give_up(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr, const struct ledger *lost)
{
	struct stream_half *s;

	pthread_mutex_lock(&a->lock);
	s = stream_edit(a);
	for (size_t i = 0; i < nr; i++)
		counts_add(&s->accounted, counts[i].device, counts[i].nr);
	for (uint32_t i = 0; i < s->nr_losses; i++)
		if (s->losses[i].carried_by == sequence)
			s->losses[i].carried_by = NOT_CARRIED;
	if (s->prepared_sequence == sequence)
		s->is_prepared = s->is_acknowledged = 0;
	keep_ledger(a, s, lost);
	stream_publish(a);
	pthread_mutex_unlock(&a->lock);
}

void account_acknowledged(struct account *a, uint64_t epoch, uint64_t sequence)
{
	unsigned int now;

	pthread_mutex_lock(&a->lock);
	now = stream_index(a);
	if (a->file->epoch[now] == epoch && a->file->stream[now].is_prepared &&
	    a->file->stream[now].prepared_sequence == sequence) {
		stream_edit(a)->is_acknowledged = 1;
		stream_publish(a);
	}
	pthread_mutex_unlock(&a->lock);
}

void account_drop_begin(struct account *a, uint64_t epoch, uint64_t sequence,
			const struct ledger *lost)
{
	struct stream_half *s;

	pthread_mutex_lock(&a->drop_lock);
	pthread_mutex_lock(&a->lock);
	s = stream_edit(a);
	s->is_dropping = 1;
	s->dropping_epoch = epoch;
	s->dropping_sequence = sequence;
	keep_ledger(a, s, lost);
	stream_publish(a);
	pthread_mutex_unlock(&a->lock);
}

void account_drop_end(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	stream_edit(a)->is_dropping = 0;
	stream_publish(a);
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->drop_lock);
}

void account_losses(struct account *a, uint64_t total[NR_LOSS_CAUSES])
{
	pthread_mutex_lock(&a->lock);
	memcpy(total, a->total, sizeof(a->total));
	pthread_mutex_unlock(&a->lock);
}
