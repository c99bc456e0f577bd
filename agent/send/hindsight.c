/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/send/hindsight.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/spool/tally.h"

struct hindsight {
	uint64_t keep_ns;
	char boot_id[SEGMENT_NAME_BYTES];
	pthread_mutex_t lock;		/* guards the next member */
	struct hindsight_period wanted; /* what was asked for last on this machine */
};

int hindsight_new(struct hindsight **out, uint64_t keep_ns, const char *boot_id)
{
	struct hindsight *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->keep_ns = keep_ns;
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

void hindsight_ask(struct hindsight *h, uint64_t now_ns)
{
	uint64_t from_ns;

	if (!h)
		return;
	from_ns = now_ns > h->keep_ns ? now_ns - h->keep_ns : 0;
	pthread_mutex_lock(&h->lock);
	/* A question during the time of an earlier one makes that time longer. */
	if (!h->wanted.until_ns || from_ns > h->wanted.until_ns)
		h->wanted.from_ns = from_ns;
	h->wanted.until_ns = now_ns + h->keep_ns;
	pthread_mutex_unlock(&h->lock);
}

/* Returns at_ns moved by so many seconds, at least 0 and at most max_ns. */
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

struct hindsight_period hindsight_period_of(const struct hindsight *h, int64_t begin_s,
					    int64_t end_s, uint64_t now_ns)
{
	const uint64_t max_ns = now_ns + h->keep_ns;

	if (begin_s > end_s)
		return (struct hindsight_period){ 0, 0 };
	return (struct hindsight_period){ hindsight_moved(now_ns, begin_s, max_ns),
					  hindsight_moved(now_ns, end_s, max_ns) };
}

static bool hindsight_overlaps(const struct hindsight_period *p, const struct segment_header *s)
{
	return p->until_ns && s->begin.monotonic_ns <= p->until_ns &&
	       s->end.monotonic_ns >= p->from_ns;
}

enum hindsight_verdict hindsight_judge(struct hindsight *h, const struct segment_header *segment,
				       const struct hindsight_period *asked, uint64_t now_ns,
				       bool hurry)
{
	bool is_asked;

	if (strcmp(segment->boot_id, h->boot_id) != 0)
		return HINDSIGHT_THIN;
	pthread_mutex_lock(&h->lock);
	is_asked = hindsight_overlaps(&h->wanted, segment) || hindsight_overlaps(asked, segment);
	pthread_mutex_unlock(&h->lock);
	if (is_asked)
		return HINDSIGHT_WHOLE;
	return hurry || now_ns >= segment->end.monotonic_ns + h->keep_ns ? HINDSIGHT_THIN
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
