// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_block.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/serve/period/page_window.h"
#include "base/memory/array.h"
#include "base/memory/u64map.h"
#include "base/system/clock.h"

#define MOST_DEVICES 1024	/* devices of a block that is kept in advance */
#define MOST_COLUMNS 16384	/* columns of a device; a block from a correct agent has 91 */
#define DEVICE_BYTES (8u << 20) /* bytes of a device's columns; 91 take at most 3 MiB */
#define WINDOW_BYTES (8u << 20) /* bytes of a device's packed windows */

static const double level_s[NR_PAGE_LEVELS] = { 0, 10, 60, PAGE_BLOCK_S };

enum page_level page_block_level(double step_s)
{
	int level = NR_PAGE_LEVELS - 1;

	while (level > PAGE_BY_WINDOW && fmod(step_s, level_s[level]) != 0)
		level--;
	return (enum page_level)level;
}

uint64_t page_block_of(const struct page_segment *segment)
{
	return segment->begin_real_ns / (PAGE_BLOCK_S * CLOCK_NS_PER_S);
}

static int page_block_compare(const void *a, const void *b)
{
	const struct page_segment *x = a, *y = b;
	uint64_t of_x = page_block_of(x), of_y = page_block_of(y);

	if (of_x != of_y)
		return of_x > of_y ? 1 : -1;
	return segment_name_compare(&x->name, &y->name);
}

void page_block_sort(struct page_segment *segments, size_t nr)
{
	size_t i = 1;

	/* The segments of one stream come in order, and a day has tens of thousands. */
	while (i < nr && page_block_compare(&segments[i - 1], &segments[i]) <= 0)
		i++;
	if (i < nr)
		qsort(segments, nr, sizeof(*segments), page_block_compare);
}

bool page_block_is_over(uint64_t block, double now_s)
{
	return (double)(block + 1) * PAGE_BLOCK_S + PAGE_BLOCK_LATE_S <= now_s;
}

/*
 * Returns the key of all segments of a block. The key differs between machines that pack
 * differently, so that none reads the other's form. A guest chooses much of the names, and the key
 * is all that tells blocks apart; the secret keeps it from choosing names with the key of a block
 * of another host.
 */
static uint64_t page_block_hash(struct page_store *store, const struct page_segment *segments,
				size_t nr)
{
	const uint64_t form = (uint64_t)PAGE_PACKED_VERSION << 32 | sizeof(struct page_column);
	uint64_t hash = page_kept_secret(page_store_kept(store));

	hash = XXH3_64bits_withSeed(&form, sizeof(form), hash);

	for (size_t i = 0; i < nr; i++) {
		const struct segment_name *n = &segments[i].name;
		const uint64_t numbers[] = { n->epoch, n->sequence, segments[i].received_real_ns };

		/*
		 * Each text is hashed with its final 0, so that no two pairs of names give the same
		 * bytes.
		 */
		hash = XXH3_64bits_withSeed(n->host, strlen(n->host) + 1, hash);
		hash = XXH3_64bits_withSeed(n->boot_id, strlen(n->boot_id) + 1, hash);
		hash = XXH3_64bits_withSeed(numbers, sizeof(numbers), hash);
	}
	return hash;
}

static uint64_t page_block_key(uint64_t hash, const char *device, unsigned int level)
{
	return XXH3_64bits_withSeed(device, strlen(device), hash + level);
}

/* Columns of one length, in the order of their first windows. */
struct page_block_columns {
	struct page_column *list; /* owned */
	size_t nr, cap;
	struct u64map by_begin; /* the bits of begin_s: index */
};

static void page_block_columns_release(struct page_block_columns *c)
{
	for (size_t i = 0; i < c->nr; i++)
		page_column_release(&c->list[i]);
	free(c->list);
	u64map_release(&c->by_begin);
}

/* One device of the block that is being made. */
struct page_block_device {
	char device[PROFILE_NAME_BYTES];
	struct page_windows_head head;
	struct page_block_columns columns; /* 10 s each */
	struct buf windows;		   /* packed, as they come */
};

struct page_block {
	const char *device; /* NULL: all */
	const struct page_block_limits *limits;
	size_t bytes;			   /* of all columns */
	size_t window_bytes;		   /* of all packed windows */
	struct page_block_device *devices; /* owned */
	size_t nr, cap;
	uint32_t nr_bad;
	bool failed;	      /* a segment could not be read now, and perhaps can be later */
	bool refused;	      /* the block exceeds the limits */
	bool windows_refused; /* the single windows exceed the limits */
};

static void page_block_release(struct page_block *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		page_block_columns_release(&b->devices[i].columns);
		buf_release(&b->devices[i].windows);
	}
	free(b->devices);
}

/* Returns the device, which is added if it is new; NULL if memory is out or there are too many. */
static struct page_block_device *page_block_device(struct page_block *b, const char *device)
{
	struct page_block_device *d;

	for (size_t i = 0; i < b->nr; i++)
		if (strcmp(b->devices[i].device, device) == 0)
			return &b->devices[i];
	b->refused |= b->nr == MOST_DEVICES;
	if (b->refused || array_grow(&b->devices, &b->cap, b->nr + 1, sizeof(*b->devices)) < 0)
		return NULL;
	d = &b->devices[b->nr++];
	*d = (struct page_block_device){ .device = "" };
	buf_init(&d->windows);
	snprintf(d->device, sizeof(d->device), "%s", device);
	return d;
}

/*
 * Returns the column in which at_s lies, which is added if it is new; NULL if memory is out. A
 * guest chooses the times of its windows, and their order.
 */
static struct page_column *page_block_column(struct page_block_columns *c, double at_s,
					     double length_s)
{
	/* A window that begins a rounding error early belongs to the column as in a period. */
	double begin_s = floor(at_s / length_s + 1e-6) * length_s;
	uint64_t key;
	uint32_t at;

	memcpy(&key, &begin_s, sizeof(key));
	at = u64map_find(&c->by_begin, key);
	if (at != U64MAP_NONE)
		return &c->list[at];
	if (array_grow(&c->list, &c->cap, c->nr + 1, sizeof(*c->list)) < 0 ||
	    u64map_put(&c->by_begin, key, (uint32_t)c->nr) < 0)
		return NULL;
	c->list[c->nr] = (struct page_column){ .begin_s = begin_s, .end_s = begin_s + length_s };
	return &c->list[c->nr++];
}

/* Packs a window by itself, as long as all of them take no more than the bound. */
static int page_block_take_window(struct page_block *b, struct page_block_device *d,
				  const struct page_column *window)
{
	size_t before = d->windows.len;
	int ret = b->windows_refused ? 0 : page_column_pack(window, &d->windows);

	b->window_bytes += d->windows.len - before;
	b->windows_refused |= b->window_bytes > b->limits->most_window_bytes;
	return ret;
}

static int page_block_take_column(struct page_block *b, struct page_block_device *d,
				  const struct page_column *window)
{
	size_t nr = d->columns.nr;
	struct page_column *c =
		page_block_column(&d->columns, window->begin_s, level_s[PAGE_BY_10_S]);
	int ret;

	if (!c)
		return -ENOMEM;
	b->bytes += d->columns.nr > nr ? sizeof(*c) : 0;
	b->bytes -= page_column_memory(c);
	ret = page_column_merge(c, window);
	b->bytes += page_column_memory(c);
	/* Windows may be anywhere in time, whatever their segment says. */
	b->refused |= b->bytes > b->limits->most_bytes || d->columns.nr > MOST_COLUMNS;
	return b->refused ? -ENOMEM : ret;
}

static int page_block_take(struct page_block *b, const struct profile *p)
{
	struct page_column window = { .begin_s = p->begin_s, .end_s = p->end_s };
	struct page_block_device *d = page_block_device(b, p->device);
	int ret = d ? page_column_add(&window, p) : -ENOMEM;

	if (ret == 0)
		ret = page_block_take_window(b, d, &window);
	if (ret == 0)
		ret = page_block_take_column(b, d, &window);
	page_column_release(&window);
	if (ret < 0)
		return ret;
	snprintf(d->head.name, sizeof(d->head.name), "%s", p->device_name);
	d->head.source = p->source;
	d->head.layer = p->layer;
	d->head.known = 1;
	return 0;
}

/* A profile that is damaged behind its device's number concerns that device alone. */
static int page_block_bad(struct page_block *b, const char *device)
{
	struct page_block_device *d = device[0] ? page_block_device(b, device) : NULL;

	if (!d && device[0])
		return -ENOMEM;
	*(d ? &d->head.nr_bad : &b->nr_bad) += 1;
	return 0;
}

static int page_block_visit(void *ctx, const struct segment_header *h,
			    struct segment_reader *reader)
{
	struct page_block *b = ctx;
	int ret = 0;

	(void)reader;
	for (size_t i = 0; i < h->nr_profiles && ret != -ENOMEM; i++) {
		struct profile p;
		bool is_other;

		ret = page_window_read(h->profiles[i], b->device, &p, &is_other);
		if (ret == -EBADMSG)
			ret = page_block_bad(b, p.device);
		else if (ret == 0 && !is_other)
			ret = page_block_take(b, &p);
		profile_release(&p);
	}
	return ret == -ENOMEM ? ret : 0;
}

/* Reads the files of the segments. *nr_read becomes the number of those that were read. */
static int page_block_read(struct page_block *b, struct page_store *store,
			   const struct page_segment *segments, size_t nr, uint64_t deadline_ns,
			   size_t *nr_read)
{
	for (size_t i = 0; i < nr; i++) {
		struct err why = { 0 };
		int ret;

		*nr_read = i;
		if ((deadline_ns && clock_monotonic_ns() > deadline_ns) ||
		    (b->limits->stop && atomic_load(b->limits->stop)))
			return -ETIME;
		ret = page_store_segment(store, &segments[i].name, page_block_visit, b, &why);
		if (ret == -ENOMEM)
			return ret;
		/* A segment that is gone was removed by retention meanwhile. */
		b->nr_bad += ret < 0 && ret != -ENOENT;
		b->failed |= ret < 0;
		if (b->failed && !b->device)
			break; /* The block will not be kept. */
	}
	*nr_read = nr;
	return 0;
}

/* Packs the columns of a level behind a head; longer ones are added up first. */
static int page_block_pack(const struct page_block_device *d, enum page_level level,
			   struct buf *out)
{
	struct page_block_columns columns = { .nr = 0 };
	int ret = buf_put(out, &d->head, sizeof(d->head));

	if (ret == 0 && level == PAGE_BY_WINDOW)
		return buf_put(out, d->windows.data, d->windows.len);
	for (size_t i = 0; i < d->columns.nr && ret == 0; i++) {
		const struct page_column *from = &d->columns.list[i];
		struct page_column *to = page_block_column(&columns, from->begin_s, level_s[level]);

		ret = to ? page_column_merge(to, from) : -ENOMEM;
	}
	for (size_t i = 0; i < columns.nr && ret == 0; i++)
		ret = page_column_pack(&columns.list[i], out);
	page_block_columns_release(&columns);
	return ret;
}

/*
 * Keeps a device at all levels, unless a segment is missing. Gives the bytes of one level in out,
 * unless out is NULL.
 */
static int page_block_keep_device(struct page_store *store, const struct page_block *b,
				  const struct page_block_device *d, uint64_t hash,
				  enum page_level shown, struct buf *out)
{
	const unsigned int first = b->windows_refused ? PAGE_BY_10_S : PAGE_BY_WINDOW;
	struct page_kept_item items[NR_PAGE_LEVELS];
	struct buf packed[NR_PAGE_LEVELS];
	int ret = 0;

	for (unsigned int level = 0; level < NR_PAGE_LEVELS; level++) {
		buf_init(&packed[level]);
		if (ret == 0 && level >= first)
			ret = page_block_pack(d, (enum page_level)level, &packed[level]);
		items[level] =
			(struct page_kept_item){ page_block_key(hash, d->device, level), level,
						 packed[level].data, packed[level].len };
	}
	if (ret == 0 && !b->failed)
		page_kept_put(page_store_kept(store), items + first, NR_PAGE_LEVELS - first);
	if (ret == 0 && out)
		ret = buf_put(out, packed[shown].data, packed[shown].len);
	for (int level = 0; level < NR_PAGE_LEVELS; level++)
		buf_release(&packed[level]);
	return ret;
}

/*
 * Returns whether the kept list of devices names this one. The list is a head without a window, and
 * then PROFILE_NAME_BYTES for each device that had one. The device's own columns may be gone from
 * the disk.
 */
static bool page_block_names(const struct buf *all, const char *device)
{
	size_t at = sizeof(struct page_windows_head);

	for (; at + PROFILE_NAME_BYTES <= all->len; at += PROFILE_NAME_BYTES)
		if (strncmp((const char *)all->data + at, device, PROFILE_NAME_BYTES) == 0)
			return true;
	return at != all->len;
}

/* Finds the columns of a device under the key of the block's segments. */
static bool page_block_kept(struct page_store *store, uint64_t hash, const char *device,
			    enum page_level level, struct buf *out)
{
	if (page_kept_get(page_store_kept(store), page_block_key(hash, device, level), out))
		return true;
	if (page_kept_get(page_store_kept(store), page_block_key(hash, "", 0), out) &&
	    !page_block_names(out, device)) {
		out->len = sizeof(struct page_windows_head);
		return true;
	}
	return false;
}

bool page_block_find(struct page_store *store, const struct page_segment *segments, size_t nr,
		     const char *device, enum page_level level, struct buf *out)
{
	return page_block_kept(store, page_block_hash(store, segments, nr), device, level, out);
}

int page_block_columns(struct page_store *store, const struct page_segment *segments, size_t nr,
		       const char *device, enum page_level level, uint64_t deadline_ns,
		       size_t *nr_read, struct buf *out)
{
	const struct page_block_limits limits = { .most_bytes = DEVICE_BYTES,
						  .most_window_bytes = WINDOW_BYTES };
	uint64_t hash = page_block_hash(store, segments, nr);
	struct page_block b = { .device = device, .limits = &limits };
	int ret = -ENOMEM;

	*nr_read = nr;
	if (page_block_kept(store, hash, device, level, out))
		return 0;
	buf_clear(out);
	if (page_block_device(&b, device))
		ret = page_block_read(&b, store, segments, nr, deadline_ns, nr_read);
	if (ret == 0 || ret == -ETIME)
		b.devices[0].head.nr_bad += b.nr_bad;
	if (ret == 0)
		ret = page_block_keep_device(store, &b, &b.devices[0], hash, level, out);
	else if (ret == -ETIME && page_block_pack(&b.devices[0], level, out) < 0)
		ret = -ENOMEM;
	page_block_release(&b);
	return b.refused ? -E2BIG : ret;
}

int page_block_keep(struct page_store *store, const struct page_segment *segments, size_t nr,
		    const struct page_block_limits *limits)
{
	uint64_t hash = page_block_hash(store, segments, nr), key = page_block_key(hash, "", 0);
	struct page_windows_head none = { .known = 0 };
	struct page_block b = { .device = NULL, .limits = limits };
	struct buf all;
	size_t nr_read;
	int ret;

	if (page_kept_has(page_store_kept(store), key))
		return 0;
	buf_init(&all);
	ret = page_block_read(&b, store, segments, nr, 0, &nr_read);
	none.nr_bad = b.nr_bad;
	buf_put(&all, &none, sizeof(none));
	for (size_t i = 0; i < b.nr && ret == 0 && !b.failed; i++) {
		b.devices[i].head.nr_bad += b.nr_bad;
		buf_put(&all, b.devices[i].device, PROFILE_NAME_BYTES);
		ret = page_block_keep_device(store, &b, &b.devices[i], hash, PAGE_BY_BLOCK, NULL);
	}
	ret = ret ? ret : all.error;
	if (ret == 0 && !b.failed)
		page_kept_put(page_store_kept(store),
			      &(struct page_kept_item){ key, NR_PAGE_LEVELS, all.data, all.len },
			      1);
	ret = b.refused ? 0 : ret;
	buf_release(&all);
	page_block_release(&b);
	return ret;
}
