/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/store_summary.h"

/* A range of a bundle; the list begins with the most recently used block. */
struct cluster_block {
	struct cluster_block *next;
	uint32_t bundle;
	uint64_t at;
	struct buf data;
};

static void cluster_block_free(struct cluster_block *b)
{
	if (!b)
		return;
	buf_release(&b->data);
	free(b);
}

void cluster_blocks_free(struct cluster *c)
{
	while (c->blocks) {
		struct cluster_block *b = c->blocks;

		c->blocks = b->next;
		cluster_block_free(b);
	}
	c->blocks_bytes = 0;
}

/* Returns the block that holds all bytes of the place, and moves it to the begin of the list. */
static struct cluster_block *cluster_block_find(struct cluster *c, const struct cluster_place *p)
{
	for (struct cluster_block **link = &c->blocks; *link; link = &(*link)->next) {
		struct cluster_block *b = *link;

		if (b->bundle != p->bundle || p->at < b->at ||
		    p->at + p->bytes > b->at + b->data.len)
			continue;
		*link = b->next;
		b->next = c->blocks;
		c->blocks = b;
		return b;
	}
	return NULL;
}

/* Frees the least recently used blocks; the first block stays. */
static void cluster_blocks_shrink(struct cluster *c)
{
	while (c->blocks_bytes > CLUSTER_BLOCKS_BYTES && c->blocks && c->blocks->next) {
		struct cluster_block **link = &c->blocks->next, *last;

		while ((*link)->next)
			link = &(*link)->next;
		last = *link;
		*link = NULL;
		c->blocks_bytes -= last->data.len;
		cluster_block_free(last);
	}
}

static int cluster_block_fetch(struct cluster *c, const struct cluster_place *p,
			       struct cluster_block **out, struct err *err)
{
	const struct cluster_bundle *bundle = &c->places.bundles[p->bundle];
	uint64_t nr = p->bytes > CLUSTER_READ_AHEAD ? p->bytes : CLUSTER_READ_AHEAD;
	struct cluster_block *b;
	int ret;

	if (p->bytes > SEGMENT_MAX_BYTES || p->at > bundle->bytes ||
	    p->bytes > bundle->bytes - p->at)
		return err_set(err, EBADMSG, "catalog: bundle %s: offset %llu lies behind its end",
			       bundle->key, (unsigned long long)p->at);
	if (nr > bundle->bytes - p->at)
		nr = bundle->bytes - p->at;
	b = calloc(1, sizeof(*b));
	if (!b)
		return err_set(err, ENOMEM, "out of memory");
	b->bundle = p->bundle;
	b->at = p->at;
	buf_init(&b->data);
	ret = object_get(c->objects, bundle->key, p->at, nr, &b->data, err);
	if (ret < 0) {
		cluster_block_free(b);
		return ret;
	}
	b->next = c->blocks;
	c->blocks = b;
	c->blocks_bytes += b->data.len;
	cluster_blocks_shrink(c);
	*out = b;
	return 0;
}

int cluster_read_place(struct cluster *c, const struct cluster_place *p, struct buf *b,
		       struct err *err)
{
	struct cluster_block *block;
	struct segment_hash got;
	int ret = 0;

	buf_clear(b);
	pthread_mutex_lock(&c->lock);
	block = cluster_block_find(c, p);
	if (!block)
		ret = cluster_block_fetch(c, p, &block, err);
	if (ret == 0)
		ret = buf_put(b, block->data.data + (p->at - block->at), p->bytes);
	pthread_mutex_unlock(&c->lock);
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

/* Parses "segments/HOST/BOOT_ID/EPOCH/FILE" into a name and, for a summary, its generation (else
 * 0). */
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
	struct segment_name n = { .epoch = 0 };
	uint64_t generation;

	buf_clear(b);
	if (cluster_path_parse(path, &n, &generation) == 0) {
		p = generation ? NULL : cluster_places_find(&c->places, &n);
		s = generation ? cluster_places_summary(&c->places, &n, generation) : NULL;
	}
	if (!p && !s)
		return err_set(err, ENOENT, "%s: the catalog has no such segment", path);
	if ((p ? p->bytes : s->bytes) > limit)
		return err_set(err, EFBIG, "%s: expected at most %zu bytes", path, limit);
	return p ? cluster_read_place(c, p, b, err) : cluster_read_summary(c, s, b, err);
}
