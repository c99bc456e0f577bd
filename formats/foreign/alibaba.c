/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alibaba: block traces of Alibaba (alibaba/block-traces, io_traces.csv):
 *
 *   device_id,opcode,offset,length,timestamp
 *
 * The opcode is R or W, offset and length are in bytes, and the timestamp is in microseconds since
 * 1970.
 */
#include "formats/foreign/foreign.h"

#define US_NS 1000u

static enum foreign_step alibaba_line(struct foreign *f, struct text line, struct request *r)
{
	struct text id, opcode, offset, length, when, none = text_make("", 0);
	uint64_t at, bytes, ns;
	uint8_t operation;
	int64_t device;

	if (line.at == line.end)
		return FOREIGN_NOTHING;
	if (!text_field(&line, ',', &id) || !text_field(&line, ',', &opcode) ||
	    !text_field(&line, ',', &offset) || !text_field(&line, ',', &length) ||
	    !text_field(&line, ',', &when) || line.at <= line.end)
		return foreign_because(f, "expected 5 fields parted by commas");
	if (text_is(id, "device_id"))
		return FOREIGN_NOTHING;
	if (!text_direction(opcode, &operation))
		return foreign_because(f, "opcode: expected R or W");
	if (!text_u64(offset, &at))
		return foreign_because(f, "offset: expected bytes");
	if (!text_u64(length, &bytes) || bytes > UINT32_MAX)
		return foreign_because(f, "length: expected bytes below 4 GiB");
	if (!text_ns(when, US_NS, &ns))
		return foreign_because(f, "timestamp: expected microseconds");
	device = foreign_device(f, none, "vd", id);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, ns, operation);
	r->sector = foreign_sector(f, at);
	r->bytes = (uint32_t)bytes;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_alibaba = {
	.name = "alibaba",
	.title = "Alibaba: device_id,opcode,offset,length,timestamp",
	.traits = FOREIGN_WALL,
	.line = alibaba_line,
};
