/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arc: the .lis traces of the ARC paper (Megiddo and Modha, ARC: A Self-Tuning, Low Overhead
 * Replacement Cache, FAST 2003). A line is `first_block blocks 0 number`; the lines are in order
 * and have neither times nor operations. A block is taken as 4 KiB, which keeps reuse distances in
 * blocks unchanged.
 */
#include "formats/foreign/foreign.h"

#define ARC_BLOCK_BYTES 4096u
#define STEP_NS		1000u /* the trace has an order but no clock */

static enum foreign_step arc_line(struct foreign *f, struct text line, struct request *r)
{
	struct text first, length, ignored, number, rest;
	uint64_t block, blocks, unused;

	if (!text_word(&line, &first))
		return FOREIGN_NOTHING;
	if (!text_word(&line, &length) || !text_word(&line, &ignored) ||
	    !text_word(&line, &number) || text_word(&line, &rest))
		return foreign_because(f, "expected 4 fields parted by blanks");
	if (!text_u64(first, &block) || block > UINT64_MAX / 16)
		return foreign_because(f, "first block: expected a number");
	if (!text_u64(length, &blocks) || blocks > UINT32_MAX / ARC_BLOCK_BYTES)
		return foreign_because(f, "length: expected blocks, below 4 GiB");
	if (!text_u64(ignored, &unused) || !text_u64(number, &unused))
		return foreign_because(f, "expected numbers");
	foreign_fill(r, (f->nr_records + 1) * STEP_NS, OPERATION_OTHER);
	foreign_no_operation(r);
	r->flags |= REQUEST_NO_ARRIVAL;
	r->sector = block * (ARC_BLOCK_BYTES / SECTOR_BYTES);
	r->bytes = (uint32_t)blocks * ARC_BLOCK_BYTES;
	r->device = (uint32_t)foreign_device_only(f);
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_arc = {
	.name = "arc",
	.title = "ARC (.lis), without times and operations: first_block blocks 0 number",
	.traits = FOREIGN_TIMELESS | FOREIGN_NO_OPERATION,
	.line = arc_line,
};
