/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disksim: DiskSim's default ASCII trace (The DiskSim Simulation Environment Version 4.0 Reference
 * Manual, 7.1): `time device sector sectors flags`. The time is in milliseconds with a fraction;
 * the flags are hexadecimal, and bit 0 is set for a read.
 */
#include "formats/foreign/foreign.h"

#define MS_NS	   1000000u
#define FLAGS_READ 1u

static enum foreign_step disksim_line(struct foreign *f, struct text line, struct request *r)
{
	struct text when, id, sector, length, type, rest, none = text_make("", 0);
	uint64_t sectors, flags, ns;
	int64_t device;

	if (!text_word(&line, &when))
		return FOREIGN_NOTHING;
	if (!text_word(&line, &id) || !text_word(&line, &sector) || !text_word(&line, &length) ||
	    !text_word(&line, &type) || text_word(&line, &rest))
		return foreign_because(f, "expected 5 fields parted by blanks");
	if (!text_ns(when, MS_NS, &ns))
		return foreign_because(f, "time: expected milliseconds");
	if (!text_u64(sector, &r->sector))
		return foreign_because(f, "sector: expected a number");
	if (!text_u64(length, &sectors) || sectors > UINT32_MAX / SECTOR_BYTES)
		return foreign_because(f, "length: expected sectors, below 4 GiB");
	if (!text_hex(type, &flags))
		return foreign_because(f, "flags: expected a hexadecimal number");
	device = foreign_device(f, none, "dev", id);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, ns, flags & FLAGS_READ ? OPERATION_READ : OPERATION_WRITE);
	r->bytes = (uint32_t)sectors * SECTOR_BYTES;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_disksim = {
	.name = "disksim",
	.title = "DiskSim: time_ms device sector sectors flags",
	.line = disksim_line,
};
