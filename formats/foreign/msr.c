/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msr: traces of MSR Cambridge (SNIA IOTTA 388):
 *
 *   Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime
 *
 * Timestamp and ResponseTime are in units of 100 ns, the former from 1601-01-01 UTC (Windows
 * FILETIME); Offset and Size are in bytes; Type is Read or Write.
 */
#include <errno.h>

#include "formats/foreign/foreign.h"

#define FILETIME_OF_1970 116444736000000000ull
#define FILETIME_NS	 100u

static enum foreign_step msr_line(struct foreign *f, struct text line, struct request *r)
{
	struct text when, host, disk, type, offset, size, response;
	uint64_t ticks, at, bytes, lasted;
	uint8_t operation;
	int64_t device;

	if (line.at == line.end)
		return FOREIGN_NOTHING;
	if (!text_field(&line, ',', &when) || !text_field(&line, ',', &host) ||
	    !text_field(&line, ',', &disk) || !text_field(&line, ',', &type) ||
	    !text_field(&line, ',', &offset) || !text_field(&line, ',', &size) ||
	    !text_field(&line, ',', &response) || line.at <= line.end)
		return foreign_because(f, "expected 7 fields parted by commas");
	if (text_is(when, "Timestamp"))
		return FOREIGN_NOTHING;
	if (!text_u64(when, &ticks) || ticks < FILETIME_OF_1970 ||
	    ticks - FILETIME_OF_1970 > UINT64_MAX / FILETIME_NS)
		return foreign_because(f, "Timestamp: expected 100 ns since 1601, from 1970 on");
	if (!text_direction(type, &operation))
		return foreign_because(f, "Type: expected Read or Write");
	if (!text_u64(offset, &at))
		return foreign_because(f, "Offset: expected bytes");
	if (!text_u64(size, &bytes) || bytes > UINT32_MAX)
		return foreign_because(f, "Size: expected bytes below 4 GiB");
	if (!text_ns(response, FILETIME_NS, &lasted))
		return foreign_because(f, "ResponseTime: expected units of 100 ns");
	device = foreign_device(f, host, "disk", disk);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, (ticks - FILETIME_OF_1970) * FILETIME_NS, operation);
	foreign_responded(r, lasted);
	r->sector = foreign_sector(f, at);
	r->bytes = (uint32_t)bytes;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_msr = {
	.name = "msr",
	.title = "MSR Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
	.traits = FOREIGN_WALL,
	.line = msr_line,
};
