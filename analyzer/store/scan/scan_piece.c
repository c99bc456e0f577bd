// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/scan_piece.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/damage.h"
#include "analyzer/store/index/segment_facts.h"
#include "analyzer/store/scan/scan_match.h"
#include "base/memory/array.h"

#define HEAD_BYTES 64 /* enough for segment_length() */

void scan_pieces_release(struct scan_pieces *p)
{
	free(p->items);
	*p = (struct scan_pieces){ 0 };
}

static struct scan_piece *pieces_add(struct scan_pieces *p)
{
	if (array_grow(&p->items, &p->cap, p->nr + 1, sizeof(*p->items)))
		return NULL;
	memset(&p->items[p->nr], 0, sizeof(*p->items));
	return &p->items[p->nr++];
}

bool scan_part_has(const struct scan_part *part, const char *host)
{
	return !part->is_empty && strcmp(host, part->first) >= 0 &&
	       (!part->has_end || strcmp(host, part->end) < 0);
}

/*
 * Finds the hosts of the filter's part. A host belongs to the part in which the middle of its
 * requests lies, where all requests are counted in the order of the hosts. The first part begins
 * before every name and the last one has no end, so that hosts without a request, and those of
 * which only summaries are left, belong to a part as well.
 */
static void pieces_find_part(struct scan_pieces *p, const struct scan_filter *filter)
{
	struct scan_part *part = &p->part;
	uint64_t before = 0;
	bool has_first = filter->part == 0, is_last = filter->part + 1 == filter->nr_parts;

	*part = (struct scan_part){ .is_empty = !has_first };
	for (size_t i = 0, next; i < p->nr && !part->has_end; i = next) {
		const char *host = p->items[i].name.host;
		uint64_t here = 0;
		double at;

		for (next = i; next < p->nr && !strcmp(p->items[next].name.host, host); next++)
			here += p->items[next].nr_requests;
		at = ((double)before + (double)here / 2) / (double)p->nr_whole * filter->nr_parts;
		before += here;
		if (!has_first && at >= filter->part) {
			has_first = true;
			part->is_empty = false;
			snprintf(part->first, sizeof(part->first), "%s", host);
		}
		if (!is_last && at >= filter->part + 1.0) {
			part->has_end = true;
			snprintf(part->end, sizeof(part->end), "%s", host);
		}
	}
}

/* Keeps the pieces of the filter's part. */
static void pieces_cut(struct scan_pieces *p, const struct scan_filter *filter)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr; i++)
		p->nr_whole += p->items[i].nr_requests;
	p->nr_requests = p->nr_whole;
	if (!filter->nr_parts)
		return;
	pieces_find_part(p, filter);
	p->nr_requests = 0;
	for (size_t i = 0; i < p->nr; i++) {
		if (!scan_part_has(&p->part, p->items[i].name.host))
			continue;
		p->nr_requests += p->items[i].nr_requests;
		p->items[kept++] = p->items[i];
	}
	p->nr = kept;
}

/* Returns whether its requests or its watched interval touch the filter's times. */
static bool time_taken(const struct scan_filter *f, const struct scan_piece *p)
{
	uint64_t begin = p->begin.realtime_ns, end = p->end.realtime_ns;

	if (p->nr_requests && p->first_real_ns < begin)
		begin = p->first_real_ns;
	if (p->nr_requests && p->last_real_ns > end)
		end = p->last_real_ns;
	return end >= f->begin_real_ns && (f->end_real_ns == 0 || begin < f->end_real_ns);
}

/* Notes what is missing between neighbours, and then keeps the pieces that the filter may take. */
static void pieces_filter(struct scan_pieces *p, const struct scan_filter *filter)
{
	size_t kept = 0;

	for (size_t i = p->nr; i-- > 1;) {
		struct scan_piece *at = &p->items[i];

		if (segment_name_same_stream(&at[-1].name, &at->name))
			at->nr_missing = at->name.sequence - at[-1].name.sequence - 1;
	}
	for (size_t i = 0; i < p->nr; i++)
		if (scan_match_host(filter, p->items[i].name.host) &&
		    time_taken(filter, &p->items[i]))
			p->items[kept++] = p->items[i];
	p->nr = kept;
	pieces_cut(p, filter);
}

static int collect_row(void *ctx, const struct segment_facts *f)
{
	struct scan_piece *piece = pieces_add(ctx);

	if (!piece)
		return -ENOMEM;
	*piece = (struct scan_piece){
		.name = f->name,
		.hash = f->hash,
		.file_bytes = f->file_bytes,
		.nr_requests = f->nr_requests,
		.nr_captured = f->nr_captured,
		.begin = f->begin,
		.end = f->end,
		.first_real_ns = f->first_real_ns,
		.last_real_ns = f->last_real_ns,
		.first_known = true,
	};
	return 0;
}

int scan_pieces_of_store(struct scan_pieces *p, struct store *store,
			 const struct scan_filter *filter, struct err *err)
{
	int ret = catalog_each_segment(store_catalog(store), collect_row, p, err);

	if (ret == 0)
		ret = damage_note_store(store, filter->hosts, filter->nr_hosts, err);
	if (ret == 0)
		pieces_filter(p, filter);
	return ret;
}

static int read_exactly(int fd, uint64_t offset, uint64_t nr, struct buf *b)
{
	int ret = buf_reserve(b, nr);

	while (ret == 0 && nr) {
		ssize_t got = pread(fd, b->data + b->len, nr, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		b->len += (size_t)got;
		offset += (uint64_t)got;
		nr -= (uint64_t)got;
	}
	return ret;
}

int scan_read_file(const char *path, uint64_t offset, uint64_t nr, struct buf *b, struct err *err)
{
	/* A pipe that has taken the place of the file must not hold the reader. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int ret;

	buf_clear(b);
	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	ret = read_exactly(fd, offset, nr, b);
	close(fd);
	if (ret == -EBADMSG)
		return err_set(err, EBADMSG, "%s: offset %llu: expected %llu more bytes", path,
			       (unsigned long long)offset, (unsigned long long)nr);
	if (ret < 0)
		return err_set(err, -ret, "%s: %s", path, strerror(-ret));
	return 0;
}

static int take_segment(struct scan_pieces *p, const char *path, uint64_t offset,
			const struct buf *data, struct err *err)
{
	struct segment_reader *reader = NULL;
	const struct segment_header *h;
	struct scan_piece *piece;
	int ret = segment_reader_new(&reader, data->data, data->len, err);

	if (ret < 0) {
		err_prefix(err, "%s: segment at %llu", path, (unsigned long long)offset);
		return ret;
	}
	h = segment_reader_header(reader);
	piece = pieces_add(p);
	ret = piece ? segment_name_of(&piece->name, h, err) : -ENOMEM;
	if (ret == 0)
		ret = segment_facts_check_profiles(h, err);
	if (ret == 0) {
		piece->hash = segment_hash_of(data->data, data->len);
		piece->file = path;
		piece->file_offset = offset;
		piece->file_bytes = data->len;
		piece->nr_requests = segment_reader_count(reader);
		piece->nr_captured = h->nr_captured;
		piece->begin = h->begin;
		piece->end = h->end;
		piece->first_real_ns = h->begin.realtime_ns;
		piece->last_real_ns = h->end.realtime_ns;
	} else {
		err_prefix(err, "%s: segment at %llu", path, (unsigned long long)offset);
	}
	segment_reader_free(reader);
	return ret;
}

static int take_file(struct scan_pieces *p, const char *path, struct buf *data, struct err *err)
{
	uint64_t offset = 0;
	struct stat st;
	int ret = 0;

	if (stat(path, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: expected a segment file", path);
	if (st.st_size == 0)
		return err_set(err, EBADMSG, "%s: expected a segment, the file is empty", path);
	while (ret == 0 && offset < (uint64_t)st.st_size) {
		uint64_t left = (uint64_t)st.st_size - offset;
		int64_t len;

		ret = scan_read_file(path, offset, left < HEAD_BYTES ? left : HEAD_BYTES, data,
				     err);
		if (ret < 0)
			return ret;
		len = segment_length(data->data, data->len);
		if (len <= 0 || (uint64_t)len > SEGMENT_MAX_BYTES)
			return err_set(err, EBADMSG,
				       "%s: offset %llu: expected the head of a blkcast segment",
				       path, (unsigned long long)offset);
		ret = scan_read_file(path, offset, (uint64_t)len, data, err);
		if (ret == 0)
			ret = take_segment(p, path, offset, data, err);
		offset += (uint64_t)len;
	}
	return ret;
}

static int compare_piece(const void *a, const void *b)
{
	return segment_name_compare(&((const struct scan_piece *)a)->name,
				    &((const struct scan_piece *)b)->name);
}

/*
 * A segment that is given twice is taken once. Two contents under one name are an error, because
 * nothing shows which is right.
 */
static int drop_repeats(struct scan_pieces *p, struct err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr; i++) {
		struct scan_piece *last = kept ? &p->items[kept - 1] : NULL;
		struct scan_piece *at = &p->items[i];

		if (!last || segment_name_compare(&last->name, &at->name) != 0) {
			p->items[kept++] = *at;
			continue;
		}
		if (memcmp(last->hash.bytes, at->hash.bytes, sizeof(at->hash.bytes)) != 0)
			return err_set(err, EINVAL,
				       "%s and %s: both name %s/%s/%llu/%llu and differ",
				       last->file, at->file, at->name.host, at->name.boot_id,
				       (unsigned long long)at->name.epoch,
				       (unsigned long long)at->name.sequence);
	}
	p->nr = kept;
	return 0;
}

int scan_pieces_of_files(struct scan_pieces *p, const char *const *paths, size_t nr,
			 const struct scan_filter *filter, struct err *err)
{
	struct buf data;
	int ret = 0;

	buf_init(&data);
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = take_file(p, paths[i], &data, err);
	buf_release(&data);
	if (ret == 0 && p->nr > 1)
		qsort(p->items, p->nr, sizeof(*p->items), compare_piece);
	if (ret == 0)
		ret = drop_repeats(p, err);
	if (ret == 0)
		pieces_filter(p, filter);
	return ret;
}
