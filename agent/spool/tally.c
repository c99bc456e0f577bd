/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "agent/spool/tally.h"
#include "formats/segment/segment.h"

#define TALLY_BATCH 256

static int tally_requests(struct segment_reader *reader, struct loss loss, struct ledger *out)
{
	struct request batch[TALLY_BATCH];
	int64_t nr;
	int ret;

	loss.count_known = true;
	while ((nr = segment_reader_next(reader, batch, TALLY_BATCH)) > 0) {
		for (int64_t i = 0; i < nr;) {
			loss.device = batch[i].device;
			for (loss.count = 0; i < nr && batch[i].device == loss.device; i++)
				loss.count++;
			/* entries of equal cause, device and interval are joined */
			ret = ledger_add(out, &loss);
			if (ret)
				return ret;
		}
	}
	if (nr == 0)
		return 0;
	loss.count_known = false;
	loss.count = 0;
	loss.device = 0;
	return ledger_add(out, &loss);
}

int tally_segment(const void *data, size_t len, enum loss_cause cause, struct ledger *out)
{
	struct loss loss = { .cause = (uint8_t)cause };
	const struct segment_header *header;
	struct segment_reader *reader;
	int ret;

	ret = segment_reader_new(&reader, data, len, NULL);
	if (ret)
		return ret == -ENOMEM ? ret : -EBADMSG;
	header = segment_reader_header(reader);
	loss.begin_real_ns = header->begin.realtime_ns;
	loss.end_real_ns = header->end.realtime_ns;
	if (loss.end_real_ns < loss.begin_real_ns) /* the clock was set back during the interval */
		loss.begin_real_ns = loss.end_real_ns;
	ret = tally_requests(reader, loss, out);
	if (ret)
		goto out;
	if (header->ledger)
		ret = ledger_merge(out, header->ledger);
out:
	segment_reader_free(reader);
	return ret;
}
