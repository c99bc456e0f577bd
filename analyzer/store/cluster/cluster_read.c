/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/cluster/cluster_blocks.h"
#include "analyzer/store/store_summary.h"

/* Bytes between two segments of a stream that are read along rather than by two requests. */
#define RANGE_GAP_BYTES (64u << 10)
/* Bytes of one range: the cache is shared by all streams that are read. */
#define RANGE_MIN_BYTES	  (16u << 10)
#define RANGE_BLIND_BYTES (256u << 10)
#define RANGE_MAX_BYTES	  (1u << 20)

static bool cluster_place_is_valid(const struct cluster *c, const struct cluster_place *p,
				   struct err *err)
{
	const struct cluster_bundle *bundle = &c->places.bundles[p->bundle];

	if (p->bytes <= SEGMENT_MAX_BYTES && p->at <= bundle->bytes &&
	    p->bytes <= bundle->bytes - p->at)
		return true;
	err_set(err, EBADMSG, "catalog: bundle %s: offset %llu lies behind its end", bundle->key,
		(unsigned long long)p->at);
	return false;
}

static uint64_t cluster_range_limit(struct cluster *c, struct cluster_stream *s)
{
	uint64_t limit;

	if (!atomic_exchange(&s->is_read, true))
		atomic_fetch_add(&c->nr_streams_read, 1);
	limit = CLUSTER_BLOCKS_BYTES / 2 / (atomic_load(&c->nr_streams_read) + 1);
	if (limit < RANGE_MIN_BYTES)
		return RANGE_MIN_BYTES;
	return limit < RANGE_MAX_BYTES ? limit : RANGE_MAX_BYTES;
}

/*
 * The range that begins with place i of the stream and goes on while the next places of the stream
 * lie behind. It is not shorter than RANGE_BLIND_BYTES, because the segments of other streams that
 * lie there are mostly read as well.
 */
static struct cluster_range cluster_range_from(const struct cluster *c,
					       const struct cluster_stream *s, size_t i,
					       uint64_t limit)
{
	const struct cluster_place *p = c->places.places + s->first;
	uint64_t bundle_bytes = c->places.bundles[p[i].bundle].bytes;
	struct cluster_range r = { p[i].bundle, p[i].at, p[i].bytes };
	uint64_t blind = limit < RANGE_BLIND_BYTES ? limit : RANGE_BLIND_BYTES;

	for (size_t k = i + 1; k < s->nr && p[k].bundle == r.bundle; k++) {
		if (p[k].at < r.at + r.nr || p[k].at - (r.at + r.nr) > RANGE_GAP_BYTES ||
		    p[k].at + p[k].bytes - r.at > limit)
			break;
		r.nr = p[k].at + p[k].bytes - r.at;
	}
	if (r.nr < blind)
		r.nr = blind;
	if (r.nr > bundle_bytes - r.at)
		r.nr = bundle_bytes - r.at;
	return r;
}

/* Asks for the next ranges of the stream behind the one that holds place i. */
static void cluster_read_ahead(struct cluster *c, const struct cluster_stream *s, size_t i,
			       uint64_t limit, struct cluster_range r)
{
	const struct cluster_place *p = c->places.places + s->first;

	for (int nr = 0; nr < CLUSTER_AHEAD; nr++) {
		while (i < s->nr && p[i].bundle == r.bundle && p[i].at >= r.at &&
		       p[i].at + p[i].bytes <= r.at + r.nr)
			i++;
		if (i == s->nr || !cluster_place_is_valid(c, &p[i], NULL))
			return;
		r = cluster_range_from(c, s, i, limit);
		if (!cluster_blocks_ahead(c->blocks, &r))
			return;
	}
}

/*
 * Reads a segment whose object is gone because compaction moved the segment since the index was
 * read.
 */
static int cluster_read_moved(struct cluster *c, const struct cluster_stream *s,
			      const struct cluster_place *p, struct buf *b, struct err *err)
{
	char stream[24], sequence[24];
	const char *values[] = { stream, sequence };
	const char *was = c->places.bundles[p->bundle].key;
	PGresult *r = NULL;
	int ret;

	snprintf(stream, sizeof(stream), "%llu", (unsigned long long)s->id);
	snprintf(sequence, sizeof(sequence), "%llu", (unsigned long long)p->sequence);
	pthread_mutex_lock(&c->reader_lock);
	ret = cluster_sql_call(c->reader,
			       "SELECT b.key, s.at FROM segment s JOIN bundle b ON b.id = s.bundle "
			       "WHERE s.stream = $1 AND s.sequence = $2",
			       2, values, &r, NULL);
	pthread_mutex_unlock(&c->reader_lock);
	if (ret < 0)
		return ret;
	if (PQntuples(r) == 1 && strcmp(PQgetvalue(r, 0, 0), was) != 0)
		ret = object_get(c->objects, PQgetvalue(r, 0, 0),
				 strtoull(PQgetvalue(r, 0, 1), NULL, 10), p->bytes, b, err);
	else
		ret = -ENOENT; /* and err says which object is missing */
	PQclear(r);
	return ret;
}

int cluster_read_place(struct cluster *c, struct cluster_stream *s, const struct cluster_place *p,
		       struct buf *b, struct err *err)
{
	struct cluster_range want = { p->bundle, p->at, p->bytes }, around;
	size_t i = (size_t)(p - (c->places.places + s->first));
	struct err missing = { 0 };
	struct segment_hash got;
	uint64_t limit;
	int ret;

	buf_clear(b);
	if (!cluster_place_is_valid(c, p, err))
		return -EBADMSG;
	limit = cluster_range_limit(c, s);
	around = cluster_range_from(c, s, i, limit);
	ret = cluster_blocks_read(c->blocks, &want, &around, b, &missing);
	if (ret == 0)
		cluster_read_ahead(c, s, i, limit, around);
	if (ret == -ENOENT && c->reader)
		ret = cluster_read_moved(c, s, p, b, &missing);
	if (ret < 0 && err)
		*err = missing;
	if (ret < 0)
		return ret;
	got = segment_hash_of(b->data, b->len);
	if (memcmp(got.bytes, p->hash.bytes, sizeof(got.bytes)) == 0)
		return 0;
	return err_set(
		err, EBADMSG,
		"object %s: the segment at offset %llu has not the hash that the catalog has "
		"of it",
		c->places.bundles[p->bundle].key, (unsigned long long)p->at);
}

static int cluster_read_summary(struct cluster *c, const struct cluster_summary *s, struct buf *b,
				struct err *err)
{
	char sha256[OBJECT_SHA256_HEX];
	struct iovec whole;
	int ret = object_get(c->objects, s->key, 0, s->bytes, b, err);

	if (ret < 0)
		return ret;
	whole = (struct iovec){ b->data, b->len };
	object_sha256(&whole, 1, sha256);
	if (strcmp(sha256, s->sha256) == 0)
		return 0;
	return err_set(err, EBADMSG, "object %s: it has not the SHA-256 that the catalog has of it",
		       s->key);
}

/*
 * Parses "segments/HOST/BOOT_ID/EPOCH/FILE" into a name and, for a summary, its generation (else
 * 0).
 */
static int cluster_path_parse(const char *path, struct segment_name *n, uint64_t *generation)
{
	char host[SEGMENT_NAME_BYTES], boot_id[SEGMENT_NAME_BYTES], epoch[32], file[64];
	char digits[32] = "";

	*generation = 0;
	if (sscanf(path, "segments/%63[^/]/%63[^/]/%31[0-9]/%63[^/]", host, boot_id, epoch, file) !=
	    4)
		return -ENOENT;
	if (summary_file_name(file, &n->sequence, generation))
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n->sequence);
	else
		sscanf(file, "%20[0-9]", digits);
	return segment_name_parse(n, host, boot_id, epoch, digits, NULL) < 0 ? -ENOENT : 0;
}

int cluster_read_path(struct cluster *c, const char *path, size_t limit, struct buf *b,
		      struct err *err)
{
	const struct cluster_summary *s = NULL;
	const struct cluster_place *p = NULL;
	struct cluster_stream *stream = NULL;
	struct segment_name n = { .epoch = 0 };
	uint64_t generation;

	buf_clear(b);
	if (cluster_path_parse(path, &n, &generation) == 0) {
		stream = generation ? NULL : cluster_places_stream(&c->places, &n);
		p = stream ? cluster_places_find(&c->places, stream, n.sequence) : NULL;
		s = generation ? cluster_places_summary(&c->places, &n, generation) : NULL;
	}
	if (!p && !s)
		return err_set(err, ENOENT, "%s: the catalog has no such segment", path);
	if ((p ? p->bytes : s->bytes) > limit)
		return err_set(err, EFBIG, "%s: expected at most %zu bytes", path, limit);
	return p ? cluster_read_place(c, stream, p, b, err) : cluster_read_summary(c, s, b, err);
}
