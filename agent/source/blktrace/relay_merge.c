/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/source/blktrace/relay_merge.h"

#define KEEP_BYTES (64u << 10) /* memory that an empty stream keeps */

int relay_merge_init(struct relay_merge *m, size_t nr)
{
	*m = (struct relay_merge){ .nr = nr };
	m->streams = calloc(nr, sizeof(*m->streams));
	return m->streams ? 0 : -ENOMEM;
}

void relay_merge_release(struct relay_merge *m)
{
	for (size_t i = 0; m->streams && i < m->nr; i++)
		buf_release(&m->streams[i].data);
	free(m->streams);
	*m = (struct relay_merge){ .nr = 0 };
}

int relay_merge_put(struct relay_merge *m, size_t stream, const void *data, size_t len)
{
	struct relay_stream *s = &m->streams[stream];
	size_t offset = s->has_head ? (size_t)(s->head.data - s->data.data) : 0;
	int ret = buf_put(&s->data, data, len);

	if (s->has_head)
		/* The buffer may have moved in memory, so the pointer is set again. */
		s->head.data = s->data.data + offset;
	s->data.error = 0;
	m->until_ns = 0;
	return ret;
}

/* Returns whether the stream has a record to hand out. Each record is decoded once. */
static bool has_head(struct relay_stream *s)
{
	while (!s->has_head) {
		size_t nr = blktrace_next(&s->reader, s->data.data + s->at, s->data.len - s->at,
					  &s->head, &s->has_head);

		if (!nr)
			return false;
		s->head_at = s->at;
		s->at += nr;
		s->missing = 0;
		if (s->has_head && s->head.type == BLKTRACE_EVENT)
			s->missing = blktrace_missing(&s->sequence, s->head.sequence);
	}
	return true;
}

/* Chooses the stream with the oldest record, and notes until which time it stays the oldest. */
static bool relay_merge_choose(struct relay_merge *m)
{
	uint64_t first_ns = UINT64_MAX, second_ns = UINT64_MAX;
	bool found = false;

	for (size_t i = 0; i < m->nr; i++) {
		uint64_t ns;

		if (!has_head(&m->streams[i]))
			continue;
		ns = m->streams[i].head.event.time_ns;
		if (!found || ns < first_ns) {
			second_ns = first_ns;
			first_ns = ns;
			m->last = i;
			found = true;
		} else if (ns < second_ns) {
			second_ns = ns;
		}
	}
	m->until_ns = second_ns;
	return found;
}

const struct blktrace_record *relay_merge_next(struct relay_merge *m, uint64_t before_ns,
					       uint32_t *missing)
{
	struct relay_stream *s = &m->streams[m->last];

	if (!m->until_ns || !has_head(s) || s->head.event.time_ns >= m->until_ns) {
		if (!relay_merge_choose(m))
			return NULL;
		s = &m->streams[m->last];
	}
	if (s->head.event.time_ns >= before_ns)
		return NULL;
	s->has_head = false;
	*missing = s->missing;
	return &s->head;
}

const struct blktrace_reader *relay_merge_reader(const struct relay_merge *m)
{
	return &m->streams[m->last].reader;
}

void relay_merge_trim(struct relay_merge *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct relay_stream *s = &m->streams[i];
		size_t done = s->has_head ? s->head_at : s->at, left = s->data.len - done;

		if (!done)
			continue;
		if (left)
			memmove(s->data.data, s->data.data + done, left);
		s->data.len = left;
		s->at -= done;
		s->head_at = 0;
		if (s->has_head)
			s->head.data -= done;
		if (!left && s->data.cap > KEEP_BYTES)
			buf_release(&s->data);
	}
	m->until_ns = 0;
}

uint64_t relay_merge_skipped(const struct relay_merge *m)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < m->nr; i++)
		nr += m->streams[i].reader.skipped;
	return nr;
}
