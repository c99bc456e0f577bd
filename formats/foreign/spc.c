/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spc: traces of the Storage Performance Council (SPC Trace File Format Specification, revision
 * 1.0.1), such as UMass Financial and WebSearch:
 *
 *   ASU,LBA,Size,Opcode,Timestamp[,...]
 *
 * LBA is in blocks of 512 bytes within the ASU; Size is in bytes; Opcode is R or W in upper or
 * lower case; Timestamp is in seconds from the beginning of the trace. More fields may follow, and
 * blank lines occur.
 */
#include "formats/foreign/foreign.h"

#define S_NS 1000000000u

static enum foreign_step spc_line(struct foreign *f, struct text line, struct request *r)
{
	struct text asu, lba, size, opcode, when, none = text_make("", 0);
	uint64_t bytes, ns;
	uint8_t operation;
	int64_t device;

	line = text_trim(line);
	if (line.at == line.end)
		return FOREIGN_NOTHING;
	if (!text_field(&line, ',', &asu) || !text_field(&line, ',', &lba) ||
	    !text_field(&line, ',', &size) || !text_field(&line, ',', &opcode) ||
	    !text_field(&line, ',', &when))
		return foreign_because(f, "expected 5 fields or more, parted by commas");
	if (!text_u64(text_trim(lba), &r->sector))
		return foreign_because(f, "LBA: expected blocks");
	if (!text_u64(text_trim(size), &bytes) || bytes > UINT32_MAX)
		return foreign_because(f, "Size: expected bytes below 4 GiB");
	if (!text_direction(text_trim(opcode), &operation))
		return foreign_because(f, "Opcode: expected R or W");
	if (!text_ns(text_trim(when), S_NS, &ns))
		return foreign_because(f, "Timestamp: expected seconds");
	device = foreign_device(f, none, "asu", text_trim(asu));
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, ns, operation);
	r->bytes = (uint32_t)bytes;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_spc = {
	.name = "spc",
	.title = "SPC and UMass: ASU,LBA,Size,Opcode,Timestamp",
	.line = spc_line,
};
