/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "formats/foreign/blktrace.h"

#define MAGIC	   0x65617400u
#define MAGIC_MASK 0xffffff00u

/* The kind of event: the low 16 bits of the action. */
enum action {
	ACTION_QUEUE = 1,
	ACTION_BACKMERGE,
	ACTION_FRONTMERGE,
	ACTION_GETRQ,
	ACTION_SLEEPRQ,
	ACTION_REQUEUE,
	ACTION_ISSUE,
	ACTION_COMPLETE,
	ACTION_PLUG,
	ACTION_UNPLUG_IO,
	ACTION_UNPLUG_TIMER,
	ACTION_INSERT,
	ACTION_SPLIT,
	ACTION_BOUNCE,
	ACTION_REMAP,
	ACTION_ABORT,
	ACTION_DRIVER_DATA,
	ACTION_ZONE_PLUG,
	ACTION_ZONE_UNPLUG,
	ACTION_CGROUP = 1 << 8, /* the id of a cgroup precedes the data */
};

/* Categories of the request: the bits from 16 on. Version 8 has those from ZONE_APPEND on. */
#define CATEGORY(bit)  (1ull << (16 + (bit)))
#define IS_WRITE       CATEGORY(1)
#define IS_FLUSH       CATEGORY(2)
#define IS_SYNC	       CATEGORY(3)
#define IS_PASSTHROUGH CATEGORY(9)
#define IS_NOTE	       CATEGORY(10)
#define IS_READAHEAD   CATEGORY(11)
#define IS_META	       CATEGORY(12)
#define IS_DISCARD     CATEGORY(13)
#define IS_FUA	       CATEGORY(15)
#define IS_ZONE_APPEND CATEGORY(16)
#define IS_ZONE_OR_ZERO \
	(CATEGORY(17) | CATEGORY(18) | CATEGORY(19) | CATEGORY(20) | CATEGORY(21) | CATEGORY(22))

enum note { NOTE_PROCESS, NOTE_TIMESTAMP, NOTE_MESSAGE };

/* The value by which older kernels say that there is no sector; newer ones say 0. */
#define NO_SECTOR UINT64_MAX

static uint16_t get_u16(const uint8_t *at, bool swap)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap16(value) : value;
}

static uint32_t get_u32(const uint8_t *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static uint64_t get_u64(const uint8_t *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

static uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t get_be64(const uint8_t *at)
{
	return (uint64_t)get_be32(at) << 32 | get_be32(at + 4);
}

static bool is_magic(uint32_t magic)
{
	return magic == (MAGIC | 7) || magic == (MAGIC | 8);
}

bool blktrace_is(const uint8_t *data, size_t len)
{
	return len >= 4 && (is_magic(get_u32(data, false)) || is_magic(get_u32(data, true)));
}

/*
 * Returns whether a record of this stream's byte order begins here. The first record of a stream
 * determines the byte order.
 */
static bool blktrace_begins(struct blktrace_reader *r, const uint8_t *data)
{
	if (r->is_known)
		return is_magic(get_u32(data, r->is_swapped));
	if (!blktrace_is(data, 4))
		return false;
	r->is_swapped = !is_magic(get_u32(data, false));
	r->is_known = true;
	return true;
}

/* Returns the number of bytes up to the next position where a record may begin, at least one. */
static size_t blktrace_skip(struct blktrace_reader *r, const uint8_t *data, size_t len)
{
	size_t nr = 1;

	while (nr + 4 <= len && !blktrace_begins(r, data + nr))
		nr++;
	if (nr + 4 > len)
		nr = len - 3; /* the remaining bytes may be the beginning of a record */
	r->skipped_bytes += nr;
	return nr;
}

static uint8_t kind_of(uint32_t what)
{
	switch (what) {
	case ACTION_QUEUE:
		return BLOCK_QUEUE;
	case ACTION_BACKMERGE:
		return BLOCK_BACKMERGE;
	case ACTION_FRONTMERGE:
		return BLOCK_FRONTMERGE;
	case ACTION_GETRQ:
		return BLOCK_GETRQ;
	case ACTION_REQUEUE:
		return BLOCK_REQUEUE;
	case ACTION_ISSUE:
		return BLOCK_ISSUE;
	case ACTION_COMPLETE:
		return BLOCK_COMPLETE;
	case ACTION_INSERT:
		return BLOCK_INSERT;
	case ACTION_SPLIT:
		return BLOCK_SPLIT;
	case ACTION_REMAP:
		return BLOCK_REMAP;
	case ACTION_DRIVER_DATA:
		return BLOCK_DRIVER_DATA;
	default:
		return BLOCK_OTHER;
	}
}

static uint8_t operation_of(uint64_t action, uint32_t bytes)
{
	if (action & IS_PASSTHROUGH)
		return OPERATION_OTHER;
	if (action & IS_DISCARD)
		return OPERATION_DISCARD;
	if (action & IS_ZONE_OR_ZERO)
		return OPERATION_OTHER;
	if (action & IS_WRITE)
		return OPERATION_WRITE;
	/* The kernel's own flush has the number of a write and no data. */
	if (action & IS_FLUSH && !bytes)
		return OPERATION_FLUSH;
	return OPERATION_READ;
}

static uint32_t flags_of(uint64_t action)
{
	uint32_t flags = 0;

	flags |= action & IS_FLUSH ? REQUEST_PREFLUSH : 0;
	flags |= action & IS_SYNC ? REQUEST_SYNC : 0;
	flags |= action & IS_PASSTHROUGH ? REQUEST_PASSTHROUGH : 0;
	flags |= action & IS_READAHEAD ? REQUEST_READAHEAD : 0;
	flags |= action & IS_META ? REQUEST_META : 0;
	flags |= action & IS_FUA ? REQUEST_FUA : 0;
	flags |= action & IS_ZONE_APPEND ? REQUEST_ZONE_APPEND : 0;
	return flags;
}

/* The kernel stores -errno in 16 bits. */
static uint16_t error_of(uint16_t stored)
{
	return stored & 0x8000 ? (uint16_t)-stored : stored;
}

static void decode_note(const struct blktrace_reader *r, uint32_t what, struct blktrace_record *out)
{
	out->type = BLKTRACE_UNKNOWN;
	if (what == NOTE_PROCESS && out->data_bytes) {
		size_t nr = out->data_bytes < BLKTRACE_COMM_BYTES - 1 ? out->data_bytes
								      : BLKTRACE_COMM_BYTES - 1;

		memcpy(out->comm, out->data, nr);
		out->type = BLKTRACE_PROCESS;
	} else if (what == NOTE_TIMESTAMP && out->data_bytes >= 8) {
		out->real_ns = get_u32(out->data, r->is_swapped) * 1000000000ull +
			       get_u32(out->data + 4, r->is_swapped);
		out->type = BLKTRACE_TIMESTAMP;
	} else if (what == NOTE_MESSAGE) {
		out->type = BLKTRACE_MESSAGE;
	}
}

static void decode_event(uint64_t action, struct blktrace_record *out)
{
	struct block_event *e = &out->event;
	uint32_t what = action & 0xffff & ~(uint32_t)ACTION_CGROUP;

	e->kind = kind_of(what);
	e->operation = operation_of(action, e->bytes);
	e->flags = e->operation == OPERATION_FLUSH ? 0 : flags_of(action);
	if (e->sector == NO_SECTOR)
		e->sector = 0;
	out->type = what && what <= ACTION_ZONE_UNPLUG && block_event_is_possible(e)
			    ? BLKTRACE_EVENT
			    : BLKTRACE_UNKNOWN;
	if (e->kind == BLOCK_REMAP && out->data_bytes >= 16) {
		out->from_device = get_be32(out->data);
		out->to_device = get_be32(out->data + 4);
		out->from_sector = get_be64(out->data + 8);
	}
}

/* Decodes the fields that both versions have, and those whose positions differ. */
static uint64_t decode_fields(const uint8_t *at, bool swap, struct blktrace_record *out)
{
	struct block_event *e = &out->event;
	bool v8 = out->version == 8;

	out->sequence = get_u32(at + 4, swap);
	e->time_ns = get_u64(at + 8, swap);
	e->sector = get_u64(at + 16, swap);
	e->bytes = get_u32(at + 24, swap);
	e->tid = get_u32(at + (v8 ? 28 : 32), swap);
	e->device = get_u32(at + (v8 ? 40 : 36), swap);
	e->cpu = get_u32(at + (v8 ? 44 : 40), swap);
	e->error = error_of(get_u16(at + (v8 ? 48 : 44), swap));
	return v8 ? get_u64(at + 32, swap) : get_u32(at + 28, swap);
}

size_t blktrace_next(struct blktrace_reader *r, const uint8_t *data, size_t len,
		     struct blktrace_record *out, bool *found)
{
	size_t head, data_bytes, cgroup_bytes = 0;
	uint64_t action;
	bool v8;

	*found = false;
	if (len < 4)
		return 0;
	if (!blktrace_begins(r, data)) {
		r->skipped++;
		return blktrace_skip(r, data, len);
	}
	v8 = (get_u32(data, r->is_swapped) & ~MAGIC_MASK) == 8;
	head = v8 ? BLKTRACE_V8_BYTES : BLKTRACE_V7_BYTES;
	if (len < head)
		return 0;
	data_bytes = get_u16(data + (v8 ? 50 : 46), r->is_swapped);
	if (len - head < data_bytes)
		return 0;
	*out = (struct blktrace_record){ .version = v8 ? 8 : 7 };
	action = decode_fields(data, r->is_swapped, out);
	if (action & ACTION_CGROUP && data_bytes >= 8) {
		out->cgroup_id = get_u64(data + head, r->is_swapped);
		cgroup_bytes = 8;
	}
	out->data = data + head + cgroup_bytes;
	out->data_bytes = (uint32_t)(data_bytes - cgroup_bytes);
	if (action & IS_NOTE)
		decode_note(r, action & 0xffff & ~(uint32_t)ACTION_CGROUP, out);
	else
		decode_event(action, out);
	r->records++;
	r->unknown += out->type == BLKTRACE_UNKNOWN;
	*found = true;
	return head + data_bytes;
}

uint32_t blktrace_missing(uint32_t *last, uint32_t sequence)
{
	uint32_t step = sequence - *last;

	*last = sequence;
	return step && step < 1u << 31 ? step - 1 : 0;
}

#define ZFCP_BYTES	 24
#define ZFCP_MAGIC	 1
#define ZFCP_HAS_LATENCY 1
#define ZFCP_IS_ERROR	 2

int blktrace_zfcp(const struct blktrace_reader *r, const struct blktrace_record *record,
		  struct blktrace_zfcp *out)
{
	const uint8_t *at = record->data;
	uint16_t flags;

	if (record->type != BLKTRACE_EVENT || record->event.kind != BLOCK_DRIVER_DATA ||
	    record->data_bytes != ZFCP_BYTES || get_u32(at, r->is_swapped) != ZFCP_MAGIC)
		return -EBADMSG;
	flags = get_u16(at + 4, r->is_swapped);
	*out = (struct blktrace_zfcp){ .has_latency = flags & ZFCP_HAS_LATENCY,
				       .is_error = flags & ZFCP_IS_ERROR,
				       .inb_usage = at[6],
				       .outb_usage = at[7] };
	if (out->has_latency) {
		out->channel_ns = get_u64(at + 8, r->is_swapped);
		out->fabric_ns = get_u64(at + 16, r->is_swapped);
	}
	return 0;
}
