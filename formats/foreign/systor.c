/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systor: traces of SYSTOR'17 (SNIA IOTTA 4928, enterprise virtual desktops):
 *
 *   Timestamp,Response,IOType,LUN,Offset,Size
 *
 * Timestamp is in seconds since 1970 and Response in seconds, which may be empty; Offset and Size
 * are in bytes. The first line is a heading.
 */
#include "formats/foreign/foreign.h"

#define S_NS 1000000000u

static enum foreign_step systor_line(struct foreign *f, struct text line, struct request *r)
{
	struct text when, response, type, lun, offset, size, none = text_make("", 0);
	uint64_t ns, lasted = 0, at, bytes;
	uint8_t operation;
	int64_t device;

	if (line.at == line.end)
		return FOREIGN_NOTHING;
	if (!text_field(&line, ',', &when) || !text_field(&line, ',', &response) ||
	    !text_field(&line, ',', &type) || !text_field(&line, ',', &lun) ||
	    !text_field(&line, ',', &offset) || !text_field(&line, ',', &size) ||
	    line.at <= line.end)
		return foreign_because(f, "expected 6 fields parted by commas");
	if (text_is(when, "Timestamp"))
		return FOREIGN_NOTHING;
	if (!text_ns(when, S_NS, &ns))
		return foreign_because(f, "Timestamp: expected seconds");
	if (text_len(response) && !text_ns(response, S_NS, &lasted))
		return foreign_because(f, "Response: expected seconds or nothing");
	if (!text_direction(type, &operation))
		return foreign_because(f, "IOType: expected R or W");
	if (!text_u64(offset, &at))
		return foreign_because(f, "Offset: expected bytes");
	if (!text_u64(size, &bytes) || bytes > UINT32_MAX)
		return foreign_because(f, "Size: expected bytes below 4 GiB");
	device = foreign_device(f, none, "lun", lun);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, ns, operation);
	if (text_len(response))
		foreign_responded(r, lasted);
	r->sector = foreign_sector(f, at);
	r->bytes = (uint32_t)bytes;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_systor = {
	.name = "systor",
	.title = "SYSTOR'17: Timestamp,Response,IOType,LUN,Offset,Size",
	.traits = FOREIGN_WALL,
	.line = systor_line,
};
