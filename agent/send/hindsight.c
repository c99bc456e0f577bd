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
	pthread_mutex_t lock; /* guards the next two members */
	/* The time that was asked for last, CLOCK_MONOTONIC; until_ns 0: nobody asked. */
	uint64_t from_ns, until_ns;
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
	if (!h->until_ns || from_ns > h->until_ns)
		h->from_ns = from_ns;
	h->until_ns = now_ns + h->keep_ns;
	pthread_mutex_unlock(&h->lock);
}

enum hindsight_verdict hindsight_judge(struct hindsight *h, const struct segment_header *segment,
				       uint64_t now_ns, bool hurry)
{
	uint64_t end_ns = segment->end.monotonic_ns;
	bool is_asked;

	if (strcmp(segment->boot_id, h->boot_id) != 0)
		return HINDSIGHT_THIN;
	pthread_mutex_lock(&h->lock);
	is_asked =
		h->until_ns && segment->begin.monotonic_ns <= h->until_ns && end_ns >= h->from_ns;
	pthread_mutex_unlock(&h->lock);
	if (is_asked)
		return HINDSIGHT_WHOLE;
	return hurry || now_ns >= end_ns + h->keep_ns ? HINDSIGHT_THIN : HINDSIGHT_WAIT;
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
