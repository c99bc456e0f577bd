/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tencent: traces of Tencent CBS (SNIA IOTTA 27917):
 *
 *   Timestamp,Offset,Size,IOType,VolumeID
 *
 * Timestamp is in whole seconds since 1970; Offset and Size are in sectors of 512 bytes; IOType 0
 * is a read and 1 a write.
 */
#include "formats/foreign/foreign.h"

#define S_NS 1000000000u

static enum foreign_step tencent_line(struct foreign *f, struct text line, struct request *r)
{
	struct text when, offset, size, type, volume, none = text_make("", 0);
	uint64_t ns, sectors, write;
	int64_t device;

	if (line.at == line.end)
		return FOREIGN_NOTHING;
	if (!text_field(&line, ',', &when) || !text_field(&line, ',', &offset) ||
	    !text_field(&line, ',', &size) || !text_field(&line, ',', &type) ||
	    !text_field(&line, ',', &volume) || line.at <= line.end)
		return foreign_because(f, "expected 5 fields parted by commas");
	if (text_is(when, "Timestamp"))
		return FOREIGN_NOTHING;
	if (!text_ns(when, S_NS, &ns))
		return foreign_because(f, "Timestamp: expected seconds");
	if (!text_u64(offset, &r->sector))
		return foreign_because(f, "Offset: expected sectors");
	if (!text_u64(size, &sectors) || sectors > UINT32_MAX / SECTOR_BYTES)
		return foreign_because(f, "Size: expected sectors, below 4 GiB");
	if (!text_u64(type, &write) || write > 1)
		return foreign_because(f, "IOType: expected 0 (read) or 1 (write)");
	device = foreign_device(f, none, "vol", volume);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, ns, write ? OPERATION_WRITE : OPERATION_READ);
	r->bytes = (uint32_t)sectors * SECTOR_BYTES;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_tencent = {
	.name = "tencent",
	.title = "Tencent CBS: Timestamp,Offset,Size,IOType,VolumeID",
	.traits = FOREIGN_WALL,
	.line = tencent_line,
};
