/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/send/hindsight.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/spool/tally.h"

#define HINDSIGHT_AHEAD_NS 60000000000ull /* of a question, if nothing is kept */
/*
 * The p99 of a window is known at most this long after the end of the window, because requests are
 * put in order first.
 */
#define HINDSIGHT_LATE_NS 1000000000ull

struct hindsight {
	uint64_t keep_ns;
	uint32_t least_ppm;
	char boot_id[SEGMENT_NAME_BYTES];
	atomic_uint_fast64_t window_ns; /* length of the windows that are judged by p99 */
	atomic_bool watches;		/* a policy knows of breaches */
	pthread_mutex_t lock; /* guards all below, and the policies and breaches of askers */
	struct hindsight_periods wanted; /* periods that were asked for on this machine */
	struct hindsight_asker *askers;
};

int hindsight_new(struct hindsight **out, uint64_t keep_ns, uint32_t least_ppm, const char *boot_id)
{
	struct hindsight *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->keep_ns = keep_ns;
	h->least_ppm = least_ppm;
	snprintf(h->boot_id, sizeof(h->boot_id), "%s", boot_id);
	pthread_mutex_init(&h->lock, NULL);
	*out = h;
	return 0;
}

void hindsight_free(struct hindsight *h)
{
	if (!h)
		return;
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* Returns whether the policy keeps requests back and asks for those around breaches. */
static bool hindsight_knows_breaches(const struct policy *p)
{
	return policy_limits(p) && p->around_s && (p->p99_us || p->rise_percent);
}

/* The caller holds the lock. */
static void hindsight_update(struct hindsight *h)
{
	bool watches = false;

	for (const struct hindsight_asker *a = h->askers; a; a = a->next)
		watches |= hindsight_knows_breaches(&a->policy);
	atomic_store(&h->watches, watches);
}

void hindsight_join(struct hindsight *h, struct hindsight_asker *a)
{
	*a = (struct hindsight_asker){ .policy = POLICY_NONE };
	pthread_mutex_lock(&h->lock);
	a->next = h->askers;
	h->askers = a;
	pthread_mutex_unlock(&h->lock);
}

void hindsight_leave(struct hindsight *h, struct hindsight_asker *a)
{
	struct hindsight_asker **at = &h->askers;

	pthread_mutex_lock(&h->lock);
	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
	hindsight_update(h);
	pthread_mutex_unlock(&h->lock);
}

/*
 * Returns how long segments wait for one asker. The caller holds the lock or is the asker's thread.
 */
static uint64_t hindsight_keep_ns(const struct hindsight *h, const struct hindsight_asker *a)
{
	if (h->keep_ns || !policy_limits(&a->policy))
		return h->keep_ns;
	return a->policy.around_s * 1000000000ull;
}

/* Joins the two neighbours with the least time between them. */
static void hindsight_join_nearest(struct hindsight_periods *p)
{
	size_t at = 0;

	for (size_t i = 1; i + 1 < p->nr; i++)
		if (p->all[i + 1].from_ns - p->all[i].until_ns <
		    p->all[at + 1].from_ns - p->all[at].until_ns)
			at = i;
	p->all[at].until_ns = p->all[at + 1].until_ns;
	p->nr--;
	memmove(&p->all[at + 1], &p->all[at + 2], (p->nr - at - 1) * sizeof(p->all[0]));
}

/* Adds a period, made longer by keep_ns at each end. */
static void hindsight_extend(struct hindsight_periods *p, const struct hindsight_period *by,
			     uint64_t keep_ns)
{
	struct hindsight_period more = { by->from_ns > keep_ns ? by->from_ns - keep_ns : 0,
					 by->until_ns + keep_ns };

	/* Windows of several devices, and of uneven lengths, may come in any order. */
	while (p->nr && more.from_ns <= p->all[p->nr - 1].until_ns) {
		const struct hindsight_period *last = &p->all[--p->nr];

		more.from_ns = last->from_ns < more.from_ns ? last->from_ns : more.from_ns;
		more.until_ns = last->until_ns > more.until_ns ? last->until_ns : more.until_ns;
	}
	if (p->nr == HINDSIGHT_PERIODS)
		hindsight_join_nearest(p);
	p->all[p->nr++] = more;
}

void hindsight_ask(struct hindsight *h, uint64_t now_ns)
{
	uint64_t keep_ns;

	if (!h)
		return;
	keep_ns = h->keep_ns;
	pthread_mutex_lock(&h->lock);
	for (const struct hindsight_asker *a = h->askers; a; a = a->next)
		if (hindsight_keep_ns(h, a) > keep_ns)
			keep_ns = hindsight_keep_ns(h, a);
	hindsight_extend(&h->wanted, &(struct hindsight_period){ now_ns, now_ns }, keep_ns);
	pthread_mutex_unlock(&h->lock);
}

bool hindsight_tell(struct hindsight *h, struct hindsight_asker *a, const struct policy *policy)
{
	struct policy p = *policy;
	bool is_new;

	if (p.sample_ppm < h->least_ppm)
		p.sample_ppm = h->least_ppm;
	pthread_mutex_lock(&h->lock);
	is_new = memcmp(&p, &a->policy, sizeof(p)) != 0;
	a->policy = p;
	hindsight_update(h);
	pthread_mutex_unlock(&h->lock);
	return is_new;
}

bool hindsight_watches(struct hindsight *h)
{
	return atomic_load_explicit(&h->watches, memory_order_relaxed);
}

void hindsight_set_window(struct hindsight *h, uint64_t window_ns)
{
	atomic_store(&h->window_ns, window_ns);
}

static bool hindsight_is_breach(const struct policy *p, const struct hindsight_usual *usual,
				double p99_s)
{
	if (!hindsight_knows_breaches(p))
		return false;
	return (p->p99_us && p99_s > p->p99_us / 1e6) ||
	       (p->rise_percent && usual->nr >= HINDSIGHT_USUAL &&
		p99_s > usual->p99_s * p->rise_percent / 100);
}

void hindsight_window(struct hindsight *h, struct hindsight_usual *usual, double p99_s,
		      const struct hindsight_period *window)
{
	if (isnan(p99_s))
		return;
	pthread_mutex_lock(&h->lock);
	for (struct hindsight_asker *a = h->askers; a; a = a->next)
		if (hindsight_is_breach(&a->policy, usual, p99_s))
			hindsight_extend(&a->breaches, window, hindsight_keep_ns(h, a));
	pthread_mutex_unlock(&h->lock);
	usual->nr += usual->nr < HINDSIGHT_USUAL;
	usual->p99_s += (p99_s - usual->p99_s) / usual->nr;
}

bool hindsight_limits(struct hindsight *h, const struct hindsight_asker *a)
{
	return h->keep_ns || policy_limits(&a->policy);
}

/* Returns at_ns moved by this many seconds, at least 0 and at most max_ns. */
static uint64_t hindsight_moved(uint64_t at_ns, int64_t by_s, uint64_t max_ns)
{
	uint64_t by_ns;

	if (__builtin_mul_overflow(by_s < 0 ? -(uint64_t)by_s : (uint64_t)by_s, 1000000000u,
				   &by_ns))
		by_ns = UINT64_MAX;
	if (by_s < 0)
		return at_ns > by_ns ? at_ns - by_ns : 0;
	return by_ns < max_ns - at_ns ? at_ns + by_ns : max_ns;
}

bool hindsight_asked(struct hindsight *h, struct hindsight_asker *a, int64_t begin_s, int64_t end_s,
		     uint64_t now_ns)
{
	const uint64_t keep_ns = hindsight_keep_ns(h, a), last_ns = a->asked.until_ns;
	const uint64_t max_ns = now_ns + (keep_ns ? keep_ns : HINDSIGHT_AHEAD_NS);

	a->asked = (struct hindsight_period){ 0, 0 };
	if (begin_s > end_s)
		return false;
	a->asked.from_ns = hindsight_moved(now_ns, begin_s, max_ns);
	a->asked.until_ns = hindsight_moved(now_ns, end_s, max_ns);
	return a->asked.until_ns && a->asked.from_ns > last_ns;
}

static bool hindsight_overlaps(const struct hindsight_period *p, const struct segment_header *s)
{
	return p->until_ns && s->begin.monotonic_ns <= p->until_ns &&
	       s->end.monotonic_ns >= p->from_ns;
}

static bool hindsight_is_in(const struct hindsight_periods *p, const struct segment_header *s)
{
	for (size_t i = 0; i < p->nr; i++)
		if (hindsight_overlaps(&p->all[i], s))
			return true;
	return false;
}

/* Returns the time after its end for which a segment can still be asked for. */
static uint64_t hindsight_wait_ns(struct hindsight *h, const struct hindsight_asker *a)
{
	uint64_t wait_ns = hindsight_keep_ns(h, a);

	if (hindsight_knows_breaches(&a->policy))
		wait_ns += atomic_load(&h->window_ns) + HINDSIGHT_LATE_NS;
	return wait_ns;
}

enum hindsight_verdict hindsight_judge(struct hindsight *h, const struct hindsight_asker *a,
				       const struct segment_header *segment, uint64_t now_ns,
				       bool hurry)
{
	bool is_asked;

	if (policy_limits(&a->policy) &&
	    policy_chooses(&a->policy, segment->host, segment->begin.realtime_ns))
		return HINDSIGHT_WHOLE;
	if (strcmp(segment->boot_id, h->boot_id) != 0)
		return HINDSIGHT_THIN;
	pthread_mutex_lock(&h->lock);
	is_asked = hindsight_is_in(&h->wanted, segment) || hindsight_overlaps(&a->asked, segment) ||
		   hindsight_is_in(&a->breaches, segment);
	pthread_mutex_unlock(&h->lock);
	if (is_asked)
		return HINDSIGHT_WHOLE;
	return hurry || now_ns >= segment->end.monotonic_ns + hindsight_wait_ns(h, a)
		       ? HINDSIGHT_THIN
		       : HINDSIGHT_WAIT;
}

int hindsight_thin(const void *data, size_t len, struct buf *out)
{
	struct segment_reader *reader = NULL;
	struct segment_writer *writer = NULL;
	struct segment_header header;
	struct ledger ledger;
	uint64_t nr;
	int ret;

	ledger_init(&ledger);
	ret = tally_segment(data, len, LOSS_KEPT_BACK, &ledger);
	if (ret == 0)
		ret = segment_reader_new(&reader, data, len, NULL);
	if (ret == 0)
		ret = segment_writer_new(&writer);
	if (ret < 0)
		goto out;
	header = *segment_reader_header(reader);
	nr = segment_reader_count(reader);
	header.nr_captured -= nr < header.nr_captured ? nr : header.nr_captured;
	header.ledger = &ledger;
	ret = segment_writer_finish(writer, &header, out);
out:
	segment_writer_free(writer);
	segment_reader_free(reader);
	ledger_release(&ledger);
	return ret;
}
