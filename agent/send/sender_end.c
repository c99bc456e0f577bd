/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "agent/send/sender_end.h"

#define NUMBER_BYTES 40

/* Writes a number of requests that may be a lower bound. Returns text. */
static const char *number_print(char text[NUMBER_BYTES], uint64_t nr, bool is_at_least)
{
	if (is_at_least && !nr)
		snprintf(text, NUMBER_BYTES, "an unknown number of");
	else
		snprintf(text, NUMBER_BYTES, "%s%" PRIu64, is_at_least ? "at least " : "", nr);
	return text;
}

int sender_end_add(struct sender_end *sum, const struct sink_end *end, const char *url,
		   struct err *err)
{
	const struct spool_waiting *w = &end->waiting;
	char number[NUMBER_BYTES];

	if (end->nr_delivered < sum->nr_delivered)
		sum->nr_delivered = end->nr_delivered;
	sum->waiting.nr_segments += w->nr_segments;
	sum->waiting.nr_requests += w->nr_requests;
	sum->waiting.bytes += w->bytes;
	sum->waiting.is_at_least |= w->is_at_least;
	if (end->nr_delivered || !w->nr_segments)
		return 0;
	return err_set(err, EIO,
		       "%s: nothing could be delivered to it: %" PRIu64
		       " segments with %s requests (%" PRIu64
		       " bytes) wait in %s, and the next agent sends them",
		       url, w->nr_segments, number_print(number, w->nr_requests, w->is_at_least),
		       w->bytes, end->where);
}

int sender_end_judge(const struct sender_end *end, struct err *err)
{
	char number[NUMBER_BYTES];

	if (end->nr_lost || end->is_at_least)
		return err_set(err, EIO,
			       "%s captured requests were lost on the way to the sink: the "
			       "messages above say why, and the ledger (blkcast ls) says when",
			       number_print(number, end->nr_lost, end->is_at_least));
	if (end->nr_lines_dropped)
		return err_set(err, EIO, "standard output: %" PRIu64 " profiles were not printed",
			       end->nr_lines_dropped);
	return 0;
}
