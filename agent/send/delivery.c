/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/send/delivery.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/spool/tally.h"
#include "base/memory/buf.h"
#include "formats/segment/segment.h"

/*
 * segment_split: divides a segment in two, for a receiver or a proxy that does not take a body of
 * its size.
 *
 * The first half of the requests keeps the segment's name, ledger and profiles. The second half
 * gets an epoch of its own, in which it is sequence 0, so that no sequence has a gap and no two
 * parts have the same name. Parts are numbered as in a binary heap: the whole is 1, the halves of n
 * are 2n and 2n + 1. The epoch of a part is the epoch of the whole + 1 + sequence * 64 + number. No
 * later run can begin in these nanoseconds, so the same split, repeated after a restart, gives the
 * same bytes under the same names.
 */

#define SEGMENT_SPLIT_PARTS \
	64 /* part numbers are below this: a segment is halved five times at most */

/* The segment that a part comes from. */
struct segment_origin {
	uint64_t epoch, sequence; /* epoch and sequence of the whole */
	unsigned int number;
};

#define BATCH 256

/* Copies the next nr requests of the reader. Returns 0, -ENOMEM, or -EBADMSG: there are fewer. */
static int copy_requests(struct segment_reader *r, struct segment_writer *w, size_t nr)
{
	struct request batch[BATCH];

	while (nr) {
		int64_t got = segment_reader_next(r, batch, nr < BATCH ? nr : BATCH);

		if (got <= 0)
			return got ? (int)got : -EBADMSG;
		for (int64_t i = 0; i < got; i++) {
			int ret = segment_writer_add(w, &batch[i]);

			if (ret)
				return ret;
		}
		nr -= (size_t)got;
	}
	return 0;
}

static void segment_split_halve(uint64_t *first, uint64_t *second, size_t nr, size_t nr_first)
{
	/*
	 * The number of delivered requests is at least the number kept; the first half takes the
	 * difference.
	 */
	*second = *first >= nr ? nr - nr_first : *first / 2;
	*first -= *second;
}

/*
 * Appends the halves of part o, whose bytes are data. -ERANGE: it has one request or was halved too
 * often; -EBADMSG: data is not a segment; -ENOMEM. Cost: the segment is decoded and encoded again.
 */
static int segment_split(const struct segment_origin *o, const void *data, size_t len,
			 struct buf *first, struct buf *second)
{
	struct segment_header head, tail;
	struct segment_reader *r = NULL;
	struct segment_writer *w = NULL;
	size_t nr, nr_first;
	int ret;

	if (2 * o->number + 1 >= SEGMENT_SPLIT_PARTS)
		return -ERANGE;
	ret = segment_reader_new(&r, data, len, NULL);
	if (ret)
		return ret;
	ret = segment_writer_new(&w);
	if (ret)
		goto out;
	nr = segment_reader_count(r);
	nr_first = nr / 2;
	ret = nr < 2 ? -ERANGE : copy_requests(r, w, nr_first);
	if (ret)
		goto out;
	head = tail = *segment_reader_header(r);
	segment_split_halve(&head.nr_captured, &tail.nr_captured, nr, nr_first);
	ret = segment_writer_finish(w, &head, first);
	if (ret)
		goto out;
	ret = copy_requests(r, w, nr - nr_first);
	if (ret)
		goto out;
	tail.epoch = o->epoch + 1 + o->sequence * SEGMENT_SPLIT_PARTS + 2 * o->number + 1;
	tail.sequence = 0;
	tail.ledger = NULL;
	tail.profiles = NULL;
	tail.nr_profiles = 0;
	ret = segment_writer_finish(w, &tail, second);
out:
	segment_writer_free(w);
	segment_reader_free(r);
	return ret;
}

/*
 * Appends the same segment under a name that is computed from its content: sequence 0 of an epoch
 * that lies 2 to 4 s after the epoch of the whole, by the hash of the content. This is for a
 * segment whose name a copy of this machine (restored from a snapshot, or cloned) has used for
 * other content. The same content always gets the same name; two contents get the same one with
 * probability 2^-31. Returns 0, -EBADMSG or -ENOMEM.
 */
static int segment_rename(const struct segment_origin *o, const void *data, size_t len,
			  struct buf *out)
{
	struct segment_hash hash = segment_hash_of(data, len);
	struct segment_reader *r = NULL;
	struct segment_writer *w = NULL;
	struct segment_header h;
	uint32_t nr_ns;
	int ret = segment_reader_new(&r, data, len, NULL);

	if (ret)
		goto out;
	ret = segment_writer_new(&w);
	if (ret)
		goto out;
	ret = copy_requests(r, w, segment_reader_count(r));
	if (ret)
		goto out;
	h = *segment_reader_header(r);
	nr_ns = (uint32_t)hash.bytes[0] << 24 | (uint32_t)hash.bytes[1] << 16 |
		(uint32_t)hash.bytes[2] << 8 | hash.bytes[3];
	h.epoch = o->epoch + (nr_ns | 1u << 31);
	h.sequence = 0;
	ret = segment_writer_finish(w, &h, out);
out:
	segment_writer_free(w);
	segment_reader_free(r);
	return ret;
}

struct delivery {
	struct upload *upload;
	struct log *log;
	struct segment_reader *reader; /* reader of the last segment; NULL before the first one */
	struct upload_mark mark;       /* the receiver's mark of the stream that was asked for */
	bool has_mark;		       /* the mark is known since the last failure */
	uint64_t epoch, sequence;      /* the last segment that the receiver acknowledged ... */
	bool has_acknowledged;	       /* ... if there is one */
	/* The last answer left open whether the receiver took the segment. */
	bool is_repeat;
};

int delivery_new(struct delivery **out, struct upload *upload, struct log *log)
{
	struct delivery *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->upload = upload;
	d->log = log;
	*out = d;
	return 0;
}

void delivery_free(struct delivery *d)
{
	if (!d)
		return;
	segment_reader_free(d->reader);
	free(d);
}

/*
 * A receiver that was restored from a backup has less than it acknowledged. No other part would
 * notice this.
 */
static void compare_mark(struct delivery *d, const struct upload_mark *mark)
{
	if (!d->has_acknowledged || mark->epoch != d->epoch ||
	    (mark->any && mark->sequence >= d->sequence))
		return;
	log_say(d->log, LEVEL_ERROR, "receiver_lost",
		"epoch=%" PRIu64 " acknowledged=%" PRIu64 " has=%" PRId64, d->epoch, d->sequence,
		mark->any ? (int64_t)mark->sequence : -1);
	d->has_acknowledged = false;
}

static void ask_mark(struct delivery *d, const struct segment_header *h)
{
	struct upload_mark mark = { .epoch = h->epoch };

	if (d->has_mark && d->mark.epoch == h->epoch)
		return;
	/* If the receiver does not answer, sending the segment itself shows the reason. */
	if (upload_ask_mark(d->upload, h->host, h->boot_id, &mark))
		return;
	d->mark = mark;
	d->has_mark = true;
	compare_mark(d, &mark);
}

static bool may_be_there(const struct delivery *d, const struct segment_header *h)
{
	return d->is_repeat || (d->has_mark && d->mark.any && d->mark.epoch == h->epoch &&
				h->sequence <= d->mark.sequence);
}

static void note_answer(struct delivery *d, const struct segment_header *h,
			const struct upload_answer *answer)
{
	d->is_repeat = answer->verdict == UPLOAD_RETRY;
	if (answer->verdict == UPLOAD_RETRY || answer->verdict == UPLOAD_DENIED)
		d->has_mark = false;
	if (answer->verdict != UPLOAD_DONE)
		return;
	d->epoch = h->epoch;
	d->sequence = h->sequence;
	d->has_acknowledged = true;
}

static bool is_too_large(const struct upload_answer *answer)
{
	return answer->verdict == UPLOAD_TOO_LARGE || answer->verdict == UPLOAD_CONFLICT;
}

static void send_one(struct delivery *d, const void *data, size_t len, bool maybe_there,
		     struct upload_answer *answer)
{
	struct upload_segment_options options = { .ask_first = maybe_there };

	upload_segment(d->upload, data, len, &options, answer);
}

/* The content of a refused part is lost; the other parts are not. */
static void give_up_part(const void *data, size_t len, struct ledger *lost,
			 struct upload_answer *answer)
{
	const struct loss unread = { .cause = LOSS_QUARANTINE };
	int ret = tally_segment(data, len, LOSS_QUARANTINE, lost);

	if (ret == -EBADMSG)
		ret = ledger_add(lost, &unread);
	if (ret)
		answer->verdict = UPLOAD_RETRY; /* No memory is left to note the loss. */
	else
		answer->verdict = UPLOAD_REFUSED;
}

/*
 * Sends the rest of a segment whose name already belongs to other content, under a name of its own.
 */
static void send_renamed(struct delivery *d, const struct segment_origin *o, const void *data,
			 size_t len, unsigned int *nr_stored, struct ledger *lost,
			 struct upload_answer *answer)
{
	struct buf renamed;
	int ret;

	buf_init(&renamed);
	ret = segment_rename(o, data, len, &renamed);
	if (ret == -ENOMEM)
		answer->verdict = UPLOAD_RETRY;
	else if (ret)
		give_up_part(data, len, lost, answer);
	else
		send_one(d, renamed.data, renamed.len, true, answer);
	if (!ret && (is_too_large(answer) || answer->verdict == UPLOAD_REFUSED))
		give_up_part(data, len, lost, answer);
	if (answer->verdict == UPLOAD_DONE) {
		++*nr_stored;
		log_say(d->log, LEVEL_WARN, "segment_renamed",
			"sequence=%" PRIu64 " why=\"another life of this machine took its name\"",
			o->sequence);
	}
	buf_release(&renamed);
}

/*
 * Sends the halves of part o. Where the first half has to be sent later, the second is not tried.
 * *nr_stored counts the parts that are durable at the receiver.
 */
static void send_halves(struct delivery *d, const struct segment_origin *o, const void *data,
			size_t len, unsigned int *nr_stored, struct ledger *lost,
			struct upload_answer *answer)
{
	struct buf half[2];
	bool any_refused = false;
	int ret;

	buf_init(&half[0]);
	buf_init(&half[1]);
	ret = segment_split(o, data, len, &half[0], &half[1]);
	if (ret == -ENOMEM)
		answer->verdict = UPLOAD_RETRY;
	else if (ret == -ERANGE && answer->verdict == UPLOAD_CONFLICT)
		send_renamed(d, o, data, len, nr_stored, lost, answer);
	else if (ret)
		give_up_part(data, len, lost, answer);
	for (unsigned int i = 0; i < 2 && !ret; i++) {
		struct segment_origin part = { o->epoch, o->sequence, 2 * o->number + i };

		send_one(d, half[i].data, half[i].len, true, answer);
		if (is_too_large(answer))
			send_halves(d, &part, half[i].data, half[i].len, nr_stored, lost, answer);
		else if (answer->verdict == UPLOAD_REFUSED)
			give_up_part(half[i].data, half[i].len, lost, answer);
		else if (answer->verdict == UPLOAD_DONE)
			++*nr_stored;
		if (answer->verdict != UPLOAD_DONE && answer->verdict != UPLOAD_REFUSED)
			break;
		any_refused |= answer->verdict == UPLOAD_REFUSED;
	}
	if (any_refused && answer->verdict == UPLOAD_DONE)
		answer->verdict = UPLOAD_REFUSED;
	buf_release(&half[0]);
	buf_release(&half[1]);
}

/*
 * The segment is too large, or its name is taken. The name can be taken by its own first half,
 * where an earlier run split the segment and was killed. It can also be taken by other content, in
 * which case the first half is refused as well.
 */
static void send_parts(struct delivery *d, const struct segment_header *h, const void *data,
		       size_t len, struct ledger *lost, struct upload_answer *answer)
{
	struct segment_origin whole = { h->epoch, h->sequence, 1 };
	struct upload_answer first = *answer;
	unsigned int nr_stored = 0;

	send_halves(d, &whole, data, len, &nr_stored, lost, answer);
	if (answer->verdict == UPLOAD_DONE)
		log_say(d->log, LEVEL_WARN, "segment_split",
			"sequence=%" PRIu64 " parts=%u why=\"%s\"", h->sequence, nr_stored,
			first.why);
	if (answer->verdict != UPLOAD_REFUSED || !nr_stored)
		ledger_clear(lost);
	if (answer->verdict == UPLOAD_REFUSED)
		snprintf(answer->why, sizeof(answer->why), "%s", first.why);
}

void delivery_send(struct delivery *d, const void *data, size_t len, struct ledger *lost,
		   struct upload_answer *answer)
{
	const struct segment_header *h;
	struct err err = { 0 };
	int ret = segment_reader_open(&d->reader, data, len, &err);

	if (ret) {
		*answer = (struct upload_answer){ .verdict = ret == -ENOMEM ? UPLOAD_RETRY
									    : UPLOAD_DAMAGED };
		snprintf(answer->why, sizeof(answer->why), "%.250s", err.line);
		return;
	}
	h = segment_reader_header(d->reader);
	ask_mark(d, h);
	send_one(d, data, len, may_be_there(d, h), answer);
	if (is_too_large(answer))
		send_parts(d, h, data, len, lost, answer);
	note_answer(d, h, answer);
	segment_reader_clear(d->reader);
}
