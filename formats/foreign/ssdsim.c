/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ssdsim: traces of SSDSim and MQSim: `time device sector sectors type`. The time is in whole
 * nanoseconds; type 0 is a write and 1 a read, the reverse of most formats.
 */
#include "formats/foreign/foreign.h"

static enum foreign_step ssdsim_line(struct foreign *f, struct text line, struct request *r)
{
	struct text when, id, sector, length, type, rest, none = text_make("", 0);
	uint64_t sectors, read, ns;
	int64_t device;

	if (!text_word(&line, &when))
		return FOREIGN_NOTHING;
	if (!text_word(&line, &id) || !text_word(&line, &sector) || !text_word(&line, &length) ||
	    !text_word(&line, &type) || text_word(&line, &rest))
		return foreign_because(f, "expected 5 fields parted by blanks");
	if (!text_u64(when, &ns))
		return foreign_because(f, "time: expected whole nanoseconds");
	if (!text_u64(sector, &r->sector))
		return foreign_because(f, "sector: expected a number");
	if (!text_u64(length, &sectors) || sectors > UINT32_MAX / SECTOR_BYTES)
		return foreign_because(f, "length: expected sectors, below 4 GiB");
	if (!text_u64(type, &read) || read > 1)
		return foreign_because(f, "type: expected 0 (write) or 1 (read)");
	device = foreign_device(f, none, "dev", id);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, ns, read ? OPERATION_READ : OPERATION_WRITE);
	r->bytes = (uint32_t)sectors * SECTOR_BYTES;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_ssdsim = {
	.name = "ssdsim",
	.title = "SSDSim and MQSim: time_ns device sector sectors 0=write|1=read",
	.line = ssdsim_line,
};
