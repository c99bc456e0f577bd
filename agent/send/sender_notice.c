/* SPDX-License-Identifier: Apache-2.0 */
/* sender_notice.c: notices in the place of segments that a sink could not store. */
#include <errno.h>

#include "agent/send/sender_state.h"
#include "formats/segment/segment.h"

/*
 * The account does not keep pauses, because a pause is not a loss. So the notice carries the pauses
 * of the segment.
 */
static int notice_add_pauses(struct ledger *to, const struct ledger *from)
{
	int ret = 0;

	for (size_t i = 0; from && i < from->nr; i++) {
		if (loss_is_pause(&from->losses[i]))
			ret = ledger_add(to, &from->losses[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int notice_make(const void *data, size_t len, struct ledger *lost, struct buf *out)
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
	if (ret)
		goto out;
	ret = segment_writer_finish(writer, &h, out);
out:
	segment_writer_free(writer);
	segment_reader_free(reader);
	return ret;
}

/*
 * Stores a notice in place of the segment in each sink that refused it. Returns 0 where all sinks
 * took the notice.
 */
static int send_notice(struct sender *s, const struct outgoing *o, const struct buf *notice)
{
	const struct sink_segment segment = { .host = s->host,
					      .boot_id = s->boot_id,
					      .epoch = s->epoch,
					      .sequence = o->sequence,
					      .data = notice->data,
					      .len = notice->len };
	int ret = 0;

	for (size_t i = 0; i < s->nr_sinks; i++) {
		if (s->sinks[i].has_refused)
			ret = s->sinks[i].ops->notice
				      ? s->sinks[i].ops->notice(s->sinks[i].sink, &segment)
				      : -EOPNOTSUPP;
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Records in the store itself what has been lost so far, in case no later segment can carry it. The
 * sinks' reserve for this is small, so it is used only for the first, second, fourth and so on of
 * consecutive refused segments, and for the last segment of the run.
 */
void sender_tell_loss(struct sender *s, const struct outgoing *o)
{
	bool is_power_of_two = !(s->nr_refused & (s->nr_refused - 1));
	const struct ledger nothing = { 0 };
	struct ledger lost;
	struct buf notice;
	bool is_last, is_told = false;

	pthread_mutex_lock(&s->lock);
	is_last = s->is_last;
	pthread_mutex_unlock(&s->lock);
	if (!is_power_of_two && !is_last)
		return;
	ledger_init(&lost);
	buf_init(&notice);
	if (account_take(s->account, o->sequence, &lost) || !lost.nr)
		goto out;
	if (notice_make(o->data.data, o->data.len, &lost, &notice))
		goto out;
	is_told = !send_notice(s, o, &notice);
out:
	if (is_told)
		account_commit(s->account, o->sequence);
	else /* A later segment will carry the losses. */
		account_give_up(s->account, o->sequence, NULL, 0, &nothing);
	ledger_release(&lost);
	buf_release(&notice);
}
