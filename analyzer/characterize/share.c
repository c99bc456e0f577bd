// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/share.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/models/num/ranks.h"
#include "base/memory/array.h"

/* Says which exchange this is; ranks_exchange() compares it between the ranks. */
#define SHARE_TAG 0x7368617265ull

/* The part of each amount of the room that the windows needed. */
struct share_need {
	uint64_t blocks, bytes, sample_bytes;
};

void share_init(struct share *s, size_t most, int (*each)(void *ctx, const char *json, size_t len),
		void *ctx)
{
	*s = (struct share){ .most = most, .each = each, .ctx = ctx, .tag = SHARE_TAG };
	u64map_init(&s->devices);
	buf_init(&s->mine);
}

void share_release(struct share *s)
{
	u64map_release(&s->devices);
	buf_release(&s->mine);
	free(s->owners);
	s->owners = NULL;
}

int share_begin(struct share *s, const struct scan *scan)
{
	struct ranks_bytes all;
	uint64_t nr, nr_other;
	bool is_same = true;
	int ret;

	s->nr_whole = nr = scan_whole_requests(scan);
	window_room_init(&s->room, s->nr_whole);
	ret = ranks_exchange(&all, SHARE_TAG, &nr, sizeof(nr));
	if (ret)
		return ret;
	for (unsigned i = 0; i < ranks_nr(); i++) {
		if (all.sizes[i] != sizeof(nr_other))
			ranks_apart();
		memcpy(&nr_other, all.data + i * sizeof(nr_other), sizeof(nr_other));
		is_same &= nr_other == nr;
	}
	ranks_bytes_release(&all);
	return is_same ? 0 : SHARE_ALONE;
}

/* Returns the hash of a device's names. The number has the form of profile.device. */
static uint64_t share_key(const char *host, const char *name, const char *number)
{
	uint64_t key = XXH3_64bits(host, strlen(host));

	key = XXH3_64bits_withSeed(name, strlen(name), key);
	return XXH3_64bits_withSeed(number, strlen(number), key);
}

/*
 * Rank 0 gets the last of the devices that are dealt out at once, because it prints and draws
 * meanwhile. A device that was never met has only summaries, which every rank has whole.
 */
static uint32_t share_owner(const struct share *s, uint64_t key)
{
	uint32_t at = u64map_find(&s->devices, key);

	return at == U64MAP_NONE ? 0 : (at + 1) % ranks_nr();
}

bool share_keeps(void *ctx, const struct scan_stream *stream)
{
	struct share *s = ctx;
	char number[32];
	uint64_t key;

	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device_major(stream->device),
		 device_minor(stream->device));
	key = share_key(stream->host, stream->device_name, number);
	/*
	 * If one rank has no memory for a device, its tag differs from the tag of the other ranks.
	 */
	if (u64map_find(&s->devices, key) == U64MAP_NONE &&
	    !u64map_put(&s->devices, key, s->nr_devices))
		s->nr_devices++;
	return share_owner(s, key) == ranks_own();
}

/* Writes what the windows of this rank took of their room, before the profiles of the round. */
static void share_write_need(const struct share *s, struct buf *out)
{
	struct window_room whole;

	window_room_init(&whole, s->nr_whole);
	buf_put_le64(out, window_room_taken(&whole.blocks, &s->room.blocks));
	buf_put_le64(out, window_room_taken(&whole.bytes, &s->room.bytes));
	buf_put_le64(out, window_room_taken(&whole.sample_bytes, &s->room.sample_bytes));
}

static int share_read_need(struct share_need *sum, struct cursor *in)
{
	uint64_t blocks, bytes, sample_bytes;

	if (cursor_get_le64(in, &blocks) || cursor_get_le64(in, &bytes) ||
	    cursor_get_le64(in, &sample_bytes))
		return -EBADMSG;
	sum->blocks += blocks;
	sum->bytes += bytes;
	sum->sample_bytes += sample_bytes;
	return 0;
}

/* Hands over the profiles of the round, each from what its rank has sent. */
static int share_give(struct share *s, struct cursor *in)
{
	for (size_t i = 0; i < s->nr; i++) {
		const uint8_t *json = NULL;
		uint64_t len = 0;
		int ret;

		if (cursor_get_le64(&in[s->owners[i]], &len) ||
		    cursor_borrow(&in[s->owners[i]], &json, len))
			return -EBADMSG;
		ret = s->each(s->ctx, (const char *)json, len);
		if (ret)
			return ret;
		s->nr_given++;
	}
	return 0;
}

/* Returns 0 where all ranks together had enough room, and one process would have had it. */
static int share_check_room(const struct share *s, struct cursor *in)
{
	struct share_need sum = { 0 };
	struct window_room whole;

	for (unsigned i = 0; i < ranks_nr(); i++)
		if (share_read_need(&sum, &in[i]))
			return -EBADMSG;
	window_room_init(&whole, s->nr_whole);
	return sum.blocks < whole.blocks.left && sum.bytes < whole.bytes.left &&
			       sum.sample_bytes < whole.sample_bytes.left
		       ? 0
		       : SHARE_ALONE;
}

/* Exchanges a round; `bytes` has what this rank sends. */
static int share_exchange(struct share *s, const struct buf *bytes)
{
	struct cursor *in = calloc(ranks_nr(), sizeof(*in));
	struct ranks_bytes all = { 0 };
	size_t at = 0;
	int ret = in ? ranks_exchange(&all, s->tag, bytes->data, bytes->len) : -ENOMEM;

	if (ret == -EMSGSIZE)
		ret = SHARE_ALONE;
	if (ret)
		goto out;
	for (unsigned i = 0; i < ranks_nr(); i++) {
		in[i] = cursor_make(all.data + at, all.sizes[i]);
		at += all.sizes[i];
	}
	ret = share_check_room(s, in);
	if (!ret && !ranks_own())
		ret = share_give(s, in);
out:
	ranks_bytes_release(&all);
	free(in);
	return ret;
}

/* Ends a round. */
static int share_round(struct share *s)
{
	struct buf bytes;
	int ret;

	buf_init(&bytes);
	share_write_need(s, &bytes);
	buf_put(&bytes, s->mine.data, s->mine.len);
	ret = bytes.error ? bytes.error : share_exchange(s, &bytes);
	buf_release(&bytes);
	buf_clear(&s->mine);
	s->nr = 0;
	return ret;
}

/* Appends a profile of this rank to what is sent at the end of the round. */
static int share_add(struct share *s, const struct profile *p)
{
	struct buf json;
	int ret;

	buf_init(&json);
	ret = profile_to_json(p, PROFILE_JSON_LINE, &json);
	if (ret)
		goto out;
	buf_put_le64(&s->mine, json.len);
	ret = buf_put(&s->mine, json.data, json.len);
out:
	buf_release(&json);
	return ret;
}

int share_take(void *ctx, struct profile *p)
{
	struct share *s = ctx;
	uint64_t key = share_key(p->host, p->device_name, p->device);
	uint32_t owner = share_owner(s, key);
	int ret = 0;

	if (array_grow(&s->owners, &s->cap, s->nr + 1, sizeof(*s->owners)))
		return -ENOMEM;
	s->owners[s->nr++] = owner;
	s->tag = XXH3_64bits_withSeed(&p->begin_s, sizeof(p->begin_s), s->tag ^ key ^ owner);
	if (owner == ranks_own())
		ret = share_add(s, p);
	return ret || s->nr != s->most ? ret : share_round(s);
}

int share_end(struct share *s)
{
	return share_round(s);
}
