/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/memory/pages.h"
#include "base/memory/varint.h"
#include "formats/segment/column.h"
#include "formats/segment/pairs.h"
#include "formats/segment/plane.h"
#include "formats/segment/segment_header.h"
#include "formats/streams.h"

#define FIRST_CAP 1024u
/* Twice the bytes that the coded columns of random requests take. */
#define BODY_BYTES_A_REQUEST 16u

/* Requests are split into columns as they are added; finishing then works on dense arrays. */
struct segment_writer {
	ZSTD_CCtx *zstd;
	struct column_scratch scratch;
	struct buf body, header;
	struct pairs kinds, issuers;
	struct pairs devices; /* pairs of a device and 0 */
	size_t nr, cap;

	uint16_t *kind, *issuer; /* cap entries each */
	uint8_t *stream;
	uint8_t *low; /* for requests that do not exactly continue a stream */
	uint64_t *bytes, *near, *place, *arrival, *queue, *device, *depth;
	size_t nr_low, nr_near, nr_place;

	uint64_t max_sector;
	struct streams streams[NR_STREAM_CONTEXTS];
};

int segment_writer_new(struct segment_writer **out)
{
	struct segment_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->zstd = plane_compressor();
	if (!w->zstd) {
		free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

void segment_writer_free(struct segment_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	column_scratch_release(&w->scratch);
	buf_release(&w->body);
	buf_release(&w->header);
	pairs_release(&w->kinds);
	pairs_release(&w->issuers);
	pairs_release(&w->devices);
	free(w->kind);
	free(w->issuer);
	free(w->stream);
	free(w->low);
	free(w->bytes);
	free(w->near);
	free(w->place);
	free(w->arrival);
	free(w->queue);
	free(w->device);
	free(w->depth);
	free(w);
}

void segment_writer_clear(struct segment_writer *w)
{
	pairs_clear(&w->kinds);
	pairs_clear(&w->issuers);
	pairs_clear(&w->devices);
	w->nr = w->nr_low = w->nr_near = w->nr_place = 0;
	w->max_sector = 0;
	memset(w->streams, 0, sizeof(w->streams));
}

/* Gives back the memory behind nr entries of an array of cap entries. */
static void forget_behind(void *array, size_t nr, size_t cap, size_t size)
{
	pages_forget(array, nr * size, cap * size);
}

void segment_writer_give_back(struct segment_writer *w)
{
	ZSTD_CCtx *compressor;

	forget_behind(w->kind, w->nr, w->cap, sizeof(*w->kind));
	forget_behind(w->issuer, w->nr, w->cap, sizeof(*w->issuer));
	forget_behind(w->stream, w->nr, w->cap, 1);
	forget_behind(w->low, w->nr_low, w->cap, 1);
	forget_behind(w->bytes, w->nr, w->cap, 8);
	forget_behind(w->near, w->nr_near, w->cap, 8);
	forget_behind(w->place, w->nr_place, w->cap, 8);
	forget_behind(w->arrival, w->nr, w->cap, 8);
	forget_behind(w->queue, w->nr, w->cap, 8);
	forget_behind(w->device, w->nr, w->cap, 8);
	forget_behind(w->depth, w->nr, w->cap, 8);
	column_scratch_give_back(&w->scratch);
	/* Both buffers hold the last segment, which is written. */
	buf_clear(&w->body);
	buf_clear(&w->header);
	buf_give_back(&w->body);
	buf_give_back(&w->header);
	compressor = plane_compressor();
	if (!compressor)
		return; /* The present one serves on; its memory is given back another time. */
	ZSTD_freeCCtx(w->zstd);
	w->zstd = compressor;
}

size_t segment_writer_count(const struct segment_writer *w)
{
	return w->nr;
}

static int segment_write_grow(void *array, size_t nr, size_t size)
{
	void **at = array, *larger = realloc(*at, nr * size);

	if (!larger)
		return -ENOMEM;
	*at = larger;
	return 0;
}

static int writer_resize(struct segment_writer *w, size_t cap)
{
	if (segment_write_grow(&w->kind, cap, sizeof(*w->kind)) ||
	    segment_write_grow(&w->issuer, cap, sizeof(*w->issuer)) ||
	    segment_write_grow(&w->stream, cap, 1) || segment_write_grow(&w->low, cap, 1) ||
	    segment_write_grow(&w->bytes, cap, 8) || segment_write_grow(&w->near, cap, 8) ||
	    segment_write_grow(&w->place, cap, 8) || segment_write_grow(&w->arrival, cap, 8) ||
	    segment_write_grow(&w->queue, cap, 8) || segment_write_grow(&w->device, cap, 8) ||
	    segment_write_grow(&w->depth, cap, 8))
		return -ENOMEM;
	w->cap = cap;
	return 0;
}

static int writer_grow(struct segment_writer *w)
{
	return writer_resize(w, w->cap ? 2 * w->cap : FIRST_CAP);
}

int segment_writer_reserve(struct segment_writer *w, size_t nr)
{
	int ret = nr > w->cap ? writer_resize(w, nr) : 0;

	if (ret)
		return ret;
	ret = column_scratch_reserve(&w->scratch, nr);
	if (ret)
		return ret;
	buf_clear(&w->body);
	return buf_reserve(&w->body, nr * BODY_BYTES_A_REQUEST);
}

/* Returns the attributes of a request that have few distinct values, as one pair. */
static struct pair kind_of(const struct request *r)
{
	return (struct pair){ (uint64_t)r->device << 32 | r->flags << 8 | r->operation,
			      (uint64_t)r->error << 32 | (uint64_t)r->requeues << 16 |
				      (uint64_t)r->source << 8 | r->layer };
}

static struct pair issuer_of(const struct request *r)
{
	return (struct pair){ (uint64_t)r->tid << 32 | r->pid, r->cgroup_id };
}

static unsigned int bit_length(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

/*
 * Returns whether an end may be at most reach sectors away. Only the low halves of the sectors are
 * compared, which the compiler does four at a time, so that ends at a multiple of 2^32 sectors are
 * taken for near ones.
 */
static bool segment_write_may_be_near(const struct streams *s, uint64_t sector, uint64_t reach)
{
	uint32_t top = (uint32_t)(sector + reach), width = (uint32_t)(2 * reach), near = 0;

	if (reach >= UINT32_MAX / 2)
		return true;
	for (unsigned int i = 0; i < NR_STREAMS; i++)
		near |= top - (uint32_t)s->end[i] <= width;
	return near;
}

/*
 * Returns the rank of the stream whose end is nearest, and the distance from there in sectors.
 * STREAM_NONE: no end is at most reach sectors away. The usual cases come first: a run that goes
 * on, and a random request, which is far from all ends.
 */
static unsigned int segment_write_nearest(const struct streams *s, uint64_t sector, uint64_t reach,
					  int64_t *distance)
{
	uint64_t best = UINT64_MAX;
	unsigned int at = 0;

	*distance = 0;
	if (streams_end(s, 0) == sector)
		return 0;
	if (!segment_write_may_be_near(s, sector, reach))
		return STREAM_NONE;
	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		int64_t d = (int64_t)(sector - s->end[i]);
		uint64_t size = (uint64_t)(d < 0 ? -(uint64_t)d : (uint64_t)d);

		at = size < best ? i : at;
		best = size < best ? size : best;
	}
	*distance = (int64_t)(sector - s->end[at]);
	return best <= reach ? (at - s->head) % NR_STREAMS : STREAM_NONE;
}

/*
 * A request continues a stream, or begins near the end of one, or begins anywhere. The near form
 * pays where the distance in units of 8 sectors, its sign and the rank of the stream take fewer
 * bits than the sector.
 */
#define NEAR_BITS 12

/* Returns the largest distance in sectors at which the near form pays; 0: at none. */
static uint64_t near_reach(uint64_t max_sector)
{
	unsigned int bits = bit_length(max_sector >> 3);

	return bits > NEAR_BITS ? ((uint64_t)8 << (bits - NEAR_BITS - 1)) - 1 : 0;
}

static void add_sector(struct segment_writer *w, const struct request *r, uint32_t issuer)
{
	struct streams *s = &w->streams[streams_context(r->device, r->operation)];
	unsigned int rank, code = 2 * NR_STREAMS;
	int64_t distance;

	w->max_sector = r->sector > w->max_sector ? r->sector : w->max_sector;
	rank = segment_write_nearest(s, r->sector, near_reach(w->max_sector), &distance);
	if (rank == STREAM_NONE) {
		w->low[w->nr_low++] = (uint8_t)r->sector & 7;
		w->place[w->nr_place++] = r->sector >> 3;
	} else if (!distance) {
		code = rank;
	} else {
		code = NR_STREAMS + rank;
		w->low[w->nr_low++] = (uint8_t)distance & 7;
		w->near[w->nr_near++] = (uint64_t)(distance >> 3);
	}
	w->stream[w->nr] = (uint8_t)code;
	w->issuer[w->nr] = (uint16_t)streams_swap_issuer(s, rank, issuer);
	streams_advance(s, rank, r->sector + request_sectors(r), issuer);
}

int segment_writer_add(struct segment_writer *w, const struct request *r)
{
	int64_t kind, issuer, device;

	if (w->nr == SEGMENT_MAX_REQUESTS)
		return -ENOSPC;
	if (request_check(r))
		return -EINVAL;
	device = pairs_index(&w->devices, (struct pair){ r->device, 0 });
	if (device >= SEGMENT_MAX_DEVICES)
		return -ENOSPC;
	if (device < 0 || (w->nr == w->cap && writer_grow(w)))
		return -ENOMEM;
	kind = pairs_index(&w->kinds, kind_of(r));
	issuer = pairs_index(&w->issuers, issuer_of(r));
	if (kind < 0 || issuer < 0)
		return -ENOMEM;
	w->kind[w->nr] = (uint16_t)kind;
	w->bytes[w->nr] = r->bytes;
	w->arrival[w->nr] = r->arrival_ns;
	w->queue[w->nr] = r->dispatch_ns - r->arrival_ns;
	w->device[w->nr] = r->completion_ns - r->dispatch_ns;
	w->depth[w->nr] = r->queue_depth;
	add_sector(w, r, (uint32_t)issuer);
	w->nr++;
	return 0;
}

/* Writes the low bytes of the indexes and, where there are more than 256 pairs, the high bytes. */
static int put_indexes(struct segment_writer *w, const uint16_t *index, uint32_t nr_pairs)
{
	if (column_scratch_reserve(&w->scratch, w->nr))
		return -ENOMEM;
	for (unsigned int shift = 0; shift < (nr_pairs > 256 ? 16 : 8); shift += 8) {
		for (size_t i = 0; i < w->nr; i++)
			w->scratch.plane[i] = (uint8_t)(index[i] >> shift);
		if (plane_put(&w->body, w->zstd, w->scratch.plane, w->nr))
			return -ENOMEM;
	}
	return 0;
}

static int put_kinds(struct segment_writer *w)
{
	if (!w->nr)
		return 0;
	varint_put(&w->body, w->kinds.nr);
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		struct pair p = w->kinds.pair[i];

		varint_put(&w->body, p.first >> 32);	       /* device */
		varint_put(&w->body, p.first & 0xff);	       /* operation */
		varint_put(&w->body, p.first >> 8 & 0xffffff); /* flags */
		varint_put(&w->body, p.second >> 32);	       /* error */
		varint_put(&w->body, p.second >> 16 & 0xffff); /* requeues */
		varint_put(&w->body, p.second >> 8 & 0xff);    /* source */
		varint_put(&w->body, p.second & 0xff);	       /* layer */
	}
	return put_indexes(w, w->kind, w->kinds.nr);
}

static int put_issuers(struct segment_writer *w)
{
	if (!w->nr)
		return 0;
	varint_put(&w->body, w->issuers.nr);
	for (uint32_t i = 0; i < w->issuers.nr; i++) {
		varint_put(&w->body, w->issuers.pair[i].first >> 32);	     /* tid */
		varint_put(&w->body, w->issuers.pair[i].first & 0xffffffff); /* pid */
		varint_put(&w->body, w->issuers.pair[i].second);	     /* cgroup_id */
	}
	return put_indexes(w, w->issuer, w->issuers.nr);
}

static int put_column(struct segment_writer *w, enum segment_column column)
{
	struct column_scratch *s = &w->scratch;
	struct buf *b = &w->body;

	switch (column) {
	case COLUMN_KIND:
		return put_kinds(w);
	case COLUMN_ISSUER:
		return put_issuers(w);
	case COLUMN_BYTES:
		return column_put(b, w->zstd, s, w->bytes, w->nr, 0);
	case COLUMN_STREAM:
		return plane_put(b, w->zstd, w->stream, w->nr);
	case COLUMN_LOW:
		return plane_put(b, w->zstd, w->low, w->nr_low);
	case COLUMN_NEAR:
		return column_put(b, w->zstd, s, w->near, w->nr_near, COLUMN_SIGNED);
	case COLUMN_PLACE:
		return column_put(b, w->zstd, s, w->place, w->nr_place, 0);
	case COLUMN_ARRIVAL:
		return column_put(b, w->zstd, s, w->arrival, w->nr, COLUMN_DIFFERENCE);
	case COLUMN_QUEUE:
		return column_put(b, w->zstd, s, w->queue, w->nr, 0);
	case COLUMN_DEVICE:
		return column_put(b, w->zstd, s, w->device, w->nr, 0);
	case COLUMN_DEPTH:
		return column_put(b, w->zstd, s, w->depth, w->nr,
				  column_difference_pays(w->depth, w->nr) ? COLUMN_DIFFERENCE : 0);
	}
	return -EINVAL;
}

/*
 * Returns the lowest version that can hold the added requests, so that older readers work as long
 * as possible.
 */
static uint32_t version_of(const struct segment_writer *w, const struct segment_header *h)
{
	const struct ledger *ledger = h->ledger;
	uint64_t flags = 0;

	for (uint32_t i = 0; i < w->kinds.nr; i++)
		flags |= w->kinds.pair[i].first >> 8;
	/* More devices are refused when the header is packed. */
	for (size_t i = 0; h->nr_devices <= SEGMENT_MAX_DEVICES && i < h->nr_devices; i++)
		if (h->devices[i].file_system[0])
			return SEGMENT_VERSION;
	for (size_t i = 0; ledger && i < ledger->nr; i++)
		if (loss_is_pause(&ledger->losses[i]))
			return SEGMENT_VERSION_PAUSES;
	if (flags & REQUEST_PAUSED)
		return SEGMENT_VERSION_PAUSES;
	return flags & REQUEST_NO_OPERATION ? 2 : 1;
}

/* Puts prefix, header and body together. */
static int segment_write_assemble(const struct segment_writer *w, uint32_t version, struct buf *out)
{
	size_t before = out->len;
	size_t length = SEGMENT_PREFIX_BYTES + 4 + w->header.len + w->body.len;
	struct buf checksum = { 0 };

	if (length > SEGMENT_MAX_BYTES)
		return -E2BIG;
	buf_reserve(out, length); /* at once, so that the heap does not see each size on the way */
	buf_put(out, SEGMENT_MAGIC, SEGMENT_MAGIC_BYTES);
	buf_put_le32(out, version);
	buf_put_le32(out, (uint32_t)length);
	buf_put_le64(out, 0);
	buf_put_le32(out, (uint32_t)w->header.len);
	buf_put(out, w->header.data, w->header.len);
	buf_put(out, w->body.data, w->body.len);
	if (!out->error) {
		const uint8_t *begin = out->data + before + SEGMENT_PREFIX_BYTES;

		buf_put_le64(&checksum, XXH3_64bits(begin, length - SEGMENT_PREFIX_BYTES));
		out->error = checksum.error;
	}
	if (out->error)
		out->len = before;
	else
		memcpy(out->data + before + SEGMENT_PREFIX_BYTES - 8, checksum.data, 8);
	buf_release(&checksum);
	return out->error;
}

int segment_writer_finish(struct segment_writer *w, const struct segment_header *header,
			  struct buf *out)
{
	struct segment_layout layout = { .nr_requests = w->nr };
	int ret = 0;

	buf_clear(&w->body);
	buf_clear(&w->header);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		size_t before = w->body.len;

		ret = put_column(w, i);
		layout.column_bytes[i] = w->body.len - before;
		if (ret)
			return ret;
	}
	ret = segment_header_pack(header, &layout, version_of(w, header), w->zstd, &w->header);
	if (ret)
		return ret;
	ret = segment_write_assemble(w, version_of(w, header), out);
	if (ret)
		return ret;
	segment_writer_clear(w);
	return 0;
}
