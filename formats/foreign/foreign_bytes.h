/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_bytes: reads numbers of a record in either byte order, and SCSI operation codes. */
#ifndef FORMATS_FOREIGN_BYTES_H
#define FORMATS_FOREIGN_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/request.h"

static inline uint16_t bytes_u16(const uint8_t *p, bool big)
{
	return big ? (uint16_t)(p[0] << 8 | p[1]) : (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t bytes_u32(const uint8_t *p, bool big)
{
	return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
		   : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline uint64_t bytes_u64(const uint8_t *p, bool big)
{
	uint64_t low = bytes_u32(big ? p + 4 : p, big), high = bytes_u32(big ? p : p + 4, big);

	return high << 32 | low;
}

/*
 * Returns the operation of a SCSI command (SBC-3): READ and WRITE of 6, 10, 12, 16 bytes, and
 * others.
 */
static inline uint8_t scsi_operation(uint8_t code)
{
	switch (code) {
	case 0x08:
	case 0x28:
	case 0xa8:
	case 0x88:
		return OPERATION_READ;
	case 0x0a:
	case 0x2a:
	case 0xaa:
	case 0x8a:
	case 0x2e: /* WRITE AND VERIFY (10), (16) */
	case 0x8e:
		return OPERATION_WRITE;
	case 0x42: /* UNMAP */
		return OPERATION_DISCARD;
	case 0x35: /* SYNCHRONIZE CACHE (10), (16) */
	case 0x91:
		return OPERATION_FLUSH;
	default:
		return OPERATION_OTHER;
	}
}

#endif
