/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "formats/block_event.h"

/*
 * The letter of the operation comes first, or after an F where a flush precedes the operation. "FF"
 * and "FN" are flushes: tracefs prints the former, and blkparse, which has no letter for a flush,
 * the latter.
 */
static int operation_read(struct block_event *e, const char *rwbs, size_t len, size_t *at)
{
	size_t i = 0;

	e->flags = 0;
	if (i < len && rwbs[i] == 'F') {
		e->flags |= REQUEST_PREFLUSH;
		i++;
		if (i == len) {
			e->operation = OPERATION_FLUSH;
			*at = i;
			return 0;
		}
	}
	switch (i < len ? rwbs[i] : 0) {
	case 'R':
		e->operation = OPERATION_READ;
		break;
	case 'W':
		e->operation = OPERATION_WRITE;
		break;
	case 'D':
		e->operation = OPERATION_DISCARD;
		break;
	case 'F':
		e->operation = OPERATION_FLUSH;
		break;
	case 'N':
		e->operation = i ? OPERATION_FLUSH : OPERATION_OTHER;
		break;
	case 'Z':
		e->operation = OPERATION_OTHER;
		if (i + 1 < len && rwbs[i + 1] == 'A') {
			e->operation = OPERATION_WRITE;
			e->flags |= REQUEST_ZONE_APPEND;
		}
		i = len - 1; /* the letters of a zone operation are not those of flags */
		break;
	default:
		return -EINVAL;
	}
	*at = i + 1;
	return 0;
}

int block_event_rwbs(struct block_event *e, const char *rwbs, size_t len)
{
	struct block_event read = *e;
	size_t at;

	if (operation_read(&read, rwbs, len, &at))
		return -EINVAL;
	if (read.operation == OPERATION_FLUSH)
		read.flags = 0;
	if (read.operation == OPERATION_WRITE && at < len && rwbs[at] == 'Z') {
		read.operation = OPERATION_OTHER; /* write zeroes */
		at++;
	}
	for (; at < len; at++) {
		read.flags |= rwbs[at] == 'F' ? REQUEST_FUA : 0;
		read.flags |= rwbs[at] == 'A' ? REQUEST_READAHEAD : 0;
		read.flags |= rwbs[at] == 'S' ? REQUEST_SYNC : 0;
		read.flags |= rwbs[at] == 'M' ? REQUEST_META : 0;
	}
	*e = read;
	return 0;
}

bool block_event_is_possible(const struct block_event *e)
{
	const struct request r = { .arrival_ns = e->time_ns,
				   .dispatch_ns = e->time_ns,
				   .completion_ns = e->time_ns,
				   .sector = e->bytes ? e->sector : 0,
				   .bytes = e->bytes,
				   .operation = e->operation };

	return !request_check(&r);
}
