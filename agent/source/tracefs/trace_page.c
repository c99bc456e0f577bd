/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/source/tracefs/trace_page.h"

#define TYPE_BITS	 5
#define DELTA_BITS	 27
#define TYPE_DATA_MAX	 28u /* largest type that stands for data: its number of words */
#define TYPE_PADDING	 29u
#define TYPE_TIME_EXTEND 30u
#define TYPE_TIME_STAMP	 31u
/* An absolute time stamp has 59 bits; the upper bits are those of the page's time stamp. */
#define STAMP_HIGH_BITS (~0ull << (32 + DELTA_BITS))

#define MISSED_EVENTS	(1u << 31)
#define MISSED_STORED	(1u << 30)
#define COMMIT_MASK	((1u << 27) - 1)

#define PAGE_BYTES_MAX	(1u << 20)

uint64_t trace_number(const uint8_t *at, size_t bytes, bool is_big_endian)
{
	uint64_t value = 0;

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return 0;
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[is_big_endian ? i : bytes - 1 - i];
	return value;
}

/*
 * Finds offset and size of a field of the header page: "field: u64 timestamp; offset:0; size:8;
 * ..."
 */
static int header_field(const char *text, const char *name, unsigned int *offset,
			unsigned int *size, struct err *err)
{
	char want[32];

	snprintf(want, sizeof(want), " %s;", name);
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		size_t len;
		const char *at;

		line += *line == '\n';
		len = strcspn(line, "\n");
		at = memmem(line, len, want, strlen(want));
		if (at && sscanf(at + strlen(want), " offset:%u; size:%u;", offset, size) == 2)
			return 0;
	}
	return err_set(err, EINVAL, "events/header_page: expected a field named %s", name);
}

int trace_page_layout_parse(struct trace_page_layout *out, const char *text, struct err *err)
{
	struct trace_page_layout l = { .is_big_endian = out->is_big_endian };
	unsigned int time_bytes, data_bytes;

	if (header_field(text, "timestamp", &l.time_at, &time_bytes, err) ||
	    header_field(text, "commit", &l.commit_at, &l.commit_bytes, err) ||
	    header_field(text, "data", &l.data_at, &data_bytes, err))
		return -EINVAL;
	l.page_bytes = l.data_at + data_bytes;
	if (time_bytes != 8 || (l.commit_bytes != 4 && l.commit_bytes != 8) ||
	    data_bytes > PAGE_BYTES_MAX || l.data_at > PAGE_BYTES_MAX || l.data_at < l.commit_at ||
	    l.data_at - l.commit_at < l.commit_bytes || l.data_at < l.time_at ||
	    l.data_at - l.time_at < time_bytes)
		return err_set(err, EINVAL,
			       "events/header_page: expected an 8-byte time stamp and a commit "
			       "word of 4 or 8 bytes before the data, got %u and %u bytes, data "
			       "at %u",
			       time_bytes, l.commit_bytes, l.data_at);
	*out = l;
	return 0;
}

int trace_page_open(struct trace_page *p, const struct trace_page_layout *layout, const void *page,
		    size_t bytes)
{
	const uint8_t *base = page;
	uint64_t commit;
	size_t used;

	if (bytes < layout->data_at)
		return -EBADMSG;
	commit =
		trace_number(base + layout->commit_at, layout->commit_bytes, layout->is_big_endian);
	used = commit & COMMIT_MASK;
	if (used > bytes - layout->data_at)
		return -EBADMSG;
	*p = (struct trace_page){
		.at = base + layout->data_at,
		.end = base + layout->data_at + used,
		.time_ns = trace_number(base + layout->time_at, 8, layout->is_big_endian),
		.is_big_endian = layout->is_big_endian,
		.has_missed = (commit & MISSED_EVENTS) != 0,
	};
	/*
	 * The number of missed events, an unsigned long, follows the data where the page had room
	 * for it.
	 */
	if (p->has_missed && (commit & MISSED_STORED) &&
	    bytes - layout->data_at - used >= layout->commit_bytes) {
		p->nr_missed = trace_number(p->end, layout->commit_bytes, layout->is_big_endian);
		p->missed_known = true;
	}
	return 0;
}

/* Splits the first word of an entry into its two parts. */
static void entry_split(const struct trace_page *p, unsigned int *type, uint32_t *delta)
{
	uint32_t word = (uint32_t)trace_number(p->at, 4, p->is_big_endian);

	*type = p->is_big_endian ? word >> DELTA_BITS : word & ((1u << TYPE_BITS) - 1);
	*delta = p->is_big_endian ? word & ((1u << DELTA_BITS) - 1) : word >> TYPE_BITS;
}

/*
 * Returns the whole length of the entry at p->at, or 0 where there is no valid entry. second is the
 * entry's second word.
 */
static uint64_t entry_bytes(unsigned int type, uint32_t delta, uint32_t second)
{
	switch (type) {
	case TYPE_PADDING: /* An entry that was discarded. Without a time it ends the page. */
		return delta ? 4 + (uint64_t)second : 0;
	case TYPE_TIME_EXTEND:
	case TYPE_TIME_STAMP:
		return 8;
	case 0: /* The second word holds the length, including that word. */
		return second < 4 ? 0 : 4 + (((uint64_t)second + 3) & ~3ull);
	default:
		return 4 + 4ull * type;
	}
}

int trace_page_next(struct trace_page *p, struct trace_record *out)
{
	while (p->end - p->at >= 4) {
		uint64_t room = (uint64_t)(p->end - p->at), bytes, ns;
		const uint8_t *entry = p->at;
		unsigned int type, data_at;
		uint32_t delta, second = 0;

		entry_split(p, &type, &delta);
		if (type == TYPE_PADDING && !delta)
			break;
		if (!type || type > TYPE_DATA_MAX) {
			if (room < 8)
				return -EBADMSG;
			second = (uint32_t)trace_number(p->at + 4, 4, p->is_big_endian);
		}
		bytes = entry_bytes(type, delta, second);
		if (!bytes || bytes > room)
			return -EBADMSG;
		p->at += bytes;
		ns = (uint64_t)second << DELTA_BITS | delta;
		if (type == TYPE_TIME_STAMP)
			p->time_ns = ns | (p->time_ns & STAMP_HIGH_BITS);
		else
			p->time_ns += type == TYPE_TIME_EXTEND ? ns : delta;
		if (type > TYPE_DATA_MAX)
			continue;
		data_at = type ? 4 : 8;
		*out = (struct trace_record){ p->time_ns, entry + data_at,
					      (uint32_t)(bytes - data_at) };
		return 1;
	}
	p->at = p->end;
	return 0;
}
