/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle: the format oracleGeneral of libCacheSim: packed little-endian records of 24 bytes,
 *
 *   u32 seconds, u64 object, u32 bytes, i64 number of the next access to the object
 *
 * In a block trace the object is the first sector. The operation is not recorded.
 */
#include "formats/foreign/foreign.h"
#include "formats/foreign/foreign_bytes.h"

#define RECORD_BYTES 24u
#define S_NS	     1000000000ull
#define TRIALS	     256u
#define TRIAL_JUMP_S 86400u

/*
 * The format has no magic number. It is recognized by times that ascend slowly and next accesses
 * that lie ahead.
 */
static bool oracle_detect(const struct foreign_head *head)
{
	size_t nr = head->len / RECORD_BYTES;
	uint32_t before = 0;

	if (nr == 0 || (head->whole && head->len % RECORD_BYTES))
		return false;
	for (size_t i = 0; i < nr && i < TRIALS; i++) {
		const uint8_t *p = head->data + i * RECORD_BYTES;
		uint32_t at = bytes_u32(p, false);
		int64_t next = (int64_t)bytes_u64(p + 16, false);

		if (i && (at < before || at - before > TRIAL_JUMP_S))
			return false;
		if (bytes_u32(p + 12, false) == 0 || (next >= 0 && (uint64_t)next <= i) ||
		    next < -2)
			return false;
		before = at;
	}
	return true;
}

static enum foreign_step oracle_record(struct foreign *f, const uint8_t *data, struct request *r)
{
	r->sector = bytes_u64(data + 4, false);
	r->bytes = bytes_u32(data + 12, false);
	if (r->bytes == 0)
		return foreign_because(f, "size: expected above 0");
	foreign_fill(r, bytes_u32(data, false) * S_NS, OPERATION_OTHER);
	foreign_no_operation(r);
	r->device = (uint32_t)foreign_device_only(f);
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_oracle = {
	.name = "oracle",
	.title = "libCacheSim's oracleGeneral: without operations",
	.traits = FOREIGN_NO_OPERATION,
	.record_bytes = RECORD_BYTES,
	.detect = oracle_detect,
	.record = oracle_record,
};
