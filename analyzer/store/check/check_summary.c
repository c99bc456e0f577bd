/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/check/check_file.h"
#include "analyzer/store/check/check_summary.h"
#include "base/memory/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a summary and checks that its path agrees with its content. */
static int read_summary(const char *path, const char *below, struct summary *s, size_t *bytes,
			struct err *err)
{
	char expected[SEGMENT_PATH_MAX];
	struct segment_name first;
	struct buf data;
	int ret;

	buf_init(&data);
	summary_init(s);
	ret = check_read(path, SUMMARY_MAX_BYTES, &data, err);
	if (!ret)
		ret = summary_read(s, data.data, data.len, err);
	*bytes = data.len;
	buf_release(&data);
	if (ret)
		return ret;
	memcpy(first.host, s->host, sizeof(first.host));
	memcpy(first.boot_id, s->boot_id, sizeof(first.boot_id));
	first.epoch = s->epoch;
	first.sequence = s->members[0].sequence;
	summary_path(&first, s->generation, expected);
	if (!strcmp(expected, below))
		return 0;
	summary_release(s);
	return err_set(err, EBADMSG, "its content names %s", expected);
}

struct reading {
	struct checked_summaries *s;
	size_t cap;
};

static int check_summary_add(struct reading *r, struct summary *s, size_t bytes)
{
	struct checked_summary *to;

	if (array_grow(&r->s->items, &r->cap, r->s->nr + 1, sizeof(*r->s->items)))
		return -ENOMEM;
	to = &r->s->items[r->s->nr++];
	*to = (struct checked_summary){ .nr_members = s->nr_members,
					.nr_requests = s->nr_requests,
					.nr_dropped = s->nr_dropped,
					.file_bytes = bytes };
	memcpy(to->file.first.host, s->host, sizeof(s->host));
	memcpy(to->file.first.boot_id, s->boot_id, sizeof(s->boot_id));
	to->file.first.epoch = s->epoch;
	to->file.first.sequence = s->members[0].sequence;
	to->file.generation = s->generation;
	to->last = s->members[s->nr_members - 1].sequence;
	to->members = s->members;
	s->members = NULL;
	s->nr_members = 0;
	return 0;
}

static int check_summary_visit(void *ctx, const char *path, const char *below)
{
	const char *slash = strrchr(below, '/'), *file = slash ? slash + 1 : below;
	struct reading *r = ctx;
	struct summary s;
	size_t bytes;
	int ret;

	if (strncmp(below, "segments/", 9) != 0 || file[0] == '.' ||
	    !check_ends_with(below, ".sum"))
		return 0;
	ret = read_summary(path, below, &s, &bytes, NULL);
	if (ret == -ENOMEM)
		return ret;
	if (ret) /* the other walk reports the error */
		return 0;
	ret = check_summary_add(r, &s, bytes);
	summary_release(&s);
	return ret;
}

int checked_summaries_read(struct checked_summaries *s, const char *dir, struct err *err)
{
	struct reading r = { .s = s };
	const struct checked_summary *over = NULL;
	int ret = check_walk(dir, check_summary_visit, &r, err);

	if (ret)
		return ret;
	if (s->nr > 1)
		qsort(s->items, s->nr, sizeof(*s->items), summary_file_compare);
	for (size_t i = 0; i < s->nr; i++) {
		struct checked_summary *one = &s->items[i];

		if (over && segment_name_same_stream(&over->file.first, &one->file.first) &&
		    one->last <= over->last && one->file.generation < over->file.generation)
			one->by = over;
		else
			over = one;
	}
	return 0;
}

void checked_summaries_release(struct checked_summaries *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->items[i].members);
	free(s->items);
	*s = (struct checked_summaries){ 0 };
}

int checked_summary_at(const struct checked_summaries *s, const char *path, const char *below,
		       const struct checked_summary **out, struct err *err)
{
	char expected[SEGMENT_PATH_MAX];
	struct summary again;
	size_t bytes;
	int ret;

	for (size_t i = 0; i < s->nr; i++) {
		summary_path(&s->items[i].file.first, s->items[i].file.generation, expected);
		if (!strcmp(expected, below)) {
			*out = &s->items[i];
			return 0;
		}
	}
	ret = read_summary(path, below, &again, &bytes, err);
	if (ret)
		return ret;
	summary_release(&again);
	return err_set(err, EIO, "it changes while it is looked at");
}

int checked_summaries_have(const struct checked_summaries *s, const struct segment_name *n,
			   const struct segment_hash *hash, const struct checked_summary **by)
{
	size_t low = 0, high = s->nr;

	/*
	 * Finds the last summary whose first sequence is not after it; earlier summaries may
	 * contain it too.
	 */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (segment_name_compare(&s->items[middle].file.first, n) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && segment_name_same_stream(&s->items[i].file.first, n);) {
		const struct checked_summary *one = &s->items[i];
		struct summary as = { .members = one->members, .nr_members = one->nr_members };
		const struct summary_member *m =
			one->last >= n->sequence ? summary_find(&as, n->sequence) : NULL;

		if (!m && !one->by)
			return 0;
		if (!m)
			continue;
		*by = one->by ? one->by : one;
		return memcmp(m->hash.bytes, hash->bytes, sizeof(hash->bytes)) == 0 ? 1 : -EEXIST;
	}
	return 0;
}
