// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/part.h"

#include <errno.h>

#include "analyzer/models/num/ranks.h"

/* Says which exchange this is; ranks_exchange() compares it between the ranks. */
#define PART_TAG 0x70617274u

/* The part of each amount of the room that the windows needed. */
struct part_need {
	uint64_t blocks, bytes, sample_bytes;
};

void part_init(struct part *part)
{
	*part = (struct part){ .is_whole = true };
	for (int kind = 0; kind < NR_PART_KINDS; kind++)
		buf_init(&part->profiles[kind]);
}

void part_release(struct part *part)
{
	for (int kind = 0; kind < NR_PART_KINDS; kind++)
		buf_release(&part->profiles[kind]);
}

int part_take(struct part *part, enum part_kind kind, const struct profile *p)
{
	struct buf *to = &part->profiles[kind], text;
	int ret;

	buf_init(&text);
	ret = profile_to_json(p, PROFILE_JSON_LINE, &text);
	if (ret)
		goto out;
	buf_put_le64(to, text.len);
	ret = buf_put(to, text.data, text.len);
out:
	buf_release(&text);
	return ret;
}

static struct part_need part_needs(const struct part *part)
{
	struct window_room whole;

	window_room_init(&whole, part->nr_whole);
	return (struct part_need){
		.blocks = window_room_taken(&whole.blocks, &part->room.blocks),
		.bytes = window_room_taken(&whole.bytes, &part->room.bytes),
		.sample_bytes = window_room_taken(&whole.sample_bytes, &part->room.sample_bytes),
	};
}

/*
 * Returns whether one process would have had enough room: no rank used a budget up, and what all
 * need at most is not more than one process has.
 */
static bool part_has_room(const struct part *part, const struct part_need *sum)
{
	struct window_room whole;

	window_room_init(&whole, part->nr_whole);
	return sum->blocks < whole.blocks.left && sum->bytes < whole.bytes.left &&
	       sum->sample_bytes < whole.sample_bytes.left;
}

static int part_write(const struct part *part, const struct together *together, struct buf *out)
{
	struct part_need need = part_needs(part);
	int ret;

	buf_put_u8(out, part->is_whole);
	buf_put_le64(out, part->nr_whole);
	buf_put_le64(out, need.blocks);
	buf_put_le64(out, need.bytes);
	buf_put_le64(out, need.sample_bytes);
	for (int kind = 0; kind < NR_PART_KINDS; kind++) {
		buf_put_le64(out, part->profiles[kind].len);
		buf_put(out, part->profiles[kind].data, part->profiles[kind].len);
	}
	ret = together_write(together, out);
	if (!ret && part->issuers)
		ret = issuers_write(part->issuers, out);
	return ret ? ret : out->error;
}

/* Adds what one rank wrote to the sums and to the profiles of all. */
static int part_read(struct part *all, struct part_need *sum, struct together *together,
		     struct cursor *in)
{
	int ret;

	uint64_t nr_whole = 0, blocks = 0, bytes = 0, sample_bytes = 0;
	uint8_t is_whole = 0;

	if (cursor_get_u8(in, &is_whole) || cursor_get_le64(in, &nr_whole) ||
	    cursor_get_le64(in, &blocks) || cursor_get_le64(in, &bytes) ||
	    cursor_get_le64(in, &sample_bytes))
		return -EBADMSG;
	/* Segments that arrived meanwhile are seen by some ranks only. */
	all->is_whole &= is_whole && nr_whole == all->nr_whole;
	sum->blocks += blocks;
	sum->bytes += bytes;
	sum->sample_bytes += sample_bytes;
	for (int kind = 0; kind < NR_PART_KINDS; kind++) {
		const uint8_t *text = NULL;
		uint64_t len = 0;

		if (cursor_get_le64(in, &len) || cursor_borrow(in, &text, len))
			return -EBADMSG;
		ret = buf_put(&all->profiles[kind], text, len);
		if (ret)
			return ret;
	}
	ret = together_join(together, all->nr_whole, in);
	return ret || !all->issuers ? ret : issuers_join(all->issuers, in);
}

/* Replaces the profiles and sums of this rank by those of all ranks. */
static int part_join(struct part *part, struct together **together, const struct ranks_bytes *bytes)
{
	struct part_need sum = { 0 };
	struct together *joined = NULL;
	size_t at = 0;
	int ret = together_new(&joined);

	if (part->issuers && !ret) {
		issuers_release(part->issuers);
		ret = issuers_init(part->issuers);
	}
	for (int kind = 0; kind < NR_PART_KINDS; kind++)
		buf_clear(&part->profiles[kind]);
	for (unsigned i = 0; i < ranks_nr() && !ret; i++) {
		struct cursor in = cursor_make(bytes->data + at, bytes->sizes[i]);

		ret = part_read(part, &sum, joined, &in);
		at += bytes->sizes[i];
	}
	part->is_whole &= !ret && part_has_room(part, &sum) && together_has_room(joined) &&
			  (!part->issuers || issuers_have_room(part->issuers));
	if (ret) {
		together_free(joined);
		return ret;
	}
	together_free(*together);
	*together = joined;
	return 0;
}

int part_exchange(struct part *part, struct together **together)
{
	struct ranks_bytes bytes;
	struct buf mine;
	int ret;

	buf_init(&mine);
	ret = part_write(part, *together, &mine);
	if (!ret)
		ret = ranks_exchange(&bytes, PART_TAG, mine.data, mine.len);
	if (ret == -EMSGSIZE) {
		part->is_whole = false;
		ret = 0;
		goto out;
	}
	if (ret)
		goto out;
	ret = part_join(part, together, &bytes);
	ranks_bytes_release(&bytes);
out:
	buf_release(&mine);
	return ret;
}

/* Hands over one profile. */
static int part_next(struct cursor *in, int (*each)(void *ctx, struct profile *p), void *ctx)
{
	const uint8_t *text = NULL;
	struct profile p;
	uint64_t len = 0;
	int ret;

	if (cursor_get_le64(in, &len) || cursor_borrow(in, &text, len))
		return -EBADMSG;
	profile_init(&p);
	ret = profile_from_json((const char *)text, len, &p, NULL);
	if (!ret)
		ret = each(ctx, &p);
	profile_release(&p);
	return ret;
}

int part_each(const struct part *part, int (*each)(void *ctx, struct profile *p), void *ctx)
{
	int ret = 0;

	for (int kind = 0; kind < NR_PART_KINDS; kind++) {
		const struct buf *from = &part->profiles[kind];
		struct cursor in = cursor_make(from->data, from->len);

		while (!ret && cursor_left(&in))
			ret = part_next(&in, each, ctx);
	}
	return ret;
}
