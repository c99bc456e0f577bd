/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/send/loss_notice.h"

#include "formats/segment/segment.h"

/* Pauses are nobody's loss, so the account does not keep them: the notice takes them over. */
static int notice_add_pauses(struct ledger *to, const struct ledger *from)
{
	int ret = 0;

	for (size_t i = 0; from && i < from->nr && !ret; i++)
		if (loss_is_pause(&from->losses[i]))
			ret = ledger_add(to, &from->losses[i]);
	return ret;
}

int loss_notice(const void *data, size_t len, struct ledger *lost, struct buf *out)
{
	struct segment_reader *reader;
	struct segment_writer *writer = NULL;
	struct segment_header h;
	int ret = segment_reader_new(&reader, data, len, NULL);

	if (ret)
		return ret;
	h = *segment_reader_header(reader);
	ret = notice_add_pauses(lost, h.ledger);
	if (ret)
		goto out;
	h.ledger = lost;
	h.nr_profiles = h.nr_processes = h.nr_cgroups = 0;
	ret = segment_writer_new(&writer);
	if (!ret)
		ret = segment_writer_finish(writer, &h, out);
out:
	segment_writer_free(writer);
	segment_reader_free(reader);
	return ret;
}
