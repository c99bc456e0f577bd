/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vscsi: VMware's vscsi traces (vSCSI command traces of CloudPhysics): packed records in the byte
 * order of the host, in two versions:
 *
 *   1, 32 bytes: u32 number, u32 bytes, u32 segments, u16 command, u16 version, u64 block, u64 us
 *   2, 40 bytes: u16 command, u16 version, u32 number, u32 bytes, u32 segments, u64 block, u64 us,
 *                u64 response us
 *
 * The high byte of the version is 1 or 2. The command is a SCSI operation code, a block has 512
 * bytes, and the time is that of the host, from its start.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/foreign/foreign.h"
#include "formats/foreign/foreign_bytes.h"

#define V1_BYTES 32u
#define V2_BYTES 40u
#define US_NS	 1000u
#define LATEST	 (UINT64_MAX / 4 / US_NS)

struct vscsi {
	bool swapped; /* the trace is big-endian */
	bool known;   /* byte order and version are known */
};

/* Returns the version of the record at data, 1 or 2, or 0 where it is neither. */
static unsigned int version_of(const uint8_t *data, bool swapped)
{
	if (bytes_u16(data + 14, swapped) >> 8 == 1)
		return 1;
	return bytes_u16(data + 2, swapped) >> 8 == 2 ? 2 : 0;
}

/* Finds byte order and version from the first two records. */
static bool find_layout(const uint8_t *data, size_t len, unsigned int *version, bool *swapped)
{
	if (len < V1_BYTES)
		return false;
	for (int i = 0; i < 2; i++) {
		unsigned int v = version_of(data, i);
		size_t step = v == 2 ? V2_BYTES : V1_BYTES;

		if (v == 0 || (len >= 2 * step && version_of(data + step, i) != v))
			continue;
		*version = v;
		*swapped = i;
		return true;
	}
	return false;
}

static bool vscsi_detect(const struct foreign_head *head)
{
	unsigned int version;
	bool swapped;

	return find_layout(head->data, head->len, &version, &swapped);
}

static int vscsi_open(struct foreign *f, struct err *err)
{
	(void)err;
	f->state = calloc(1, sizeof(struct vscsi));
	return f->state ? 0 : -ENOMEM;
}

static void vscsi_close(struct foreign *f)
{
	free(f->state);
}

static enum foreign_step vscsi_take(struct foreign *f, uint16_t command, uint64_t us,
				    uint64_t response_us, bool responded, struct request *r)
{
	if (us > LATEST || response_us > LATEST)
		return foreign_because(f, "time: expected microseconds");
	foreign_fill(r, us * US_NS, scsi_operation((uint8_t)command));
	if (responded)
		foreign_responded(r, response_us * US_NS);
	if (r->operation == OPERATION_OTHER)
		r->flags |= REQUEST_PASSTHROUGH;
	r->device = (uint32_t)foreign_device_only(f);
	return FOREIGN_REQUEST;
}

static enum foreign_step vscsi_1(struct foreign *f, const uint8_t *data, struct request *r)
{
	bool swapped = ((struct vscsi *)f->state)->swapped;
	uint16_t version = bytes_u16(data + 14, swapped);

	if (version >> 8 != 1)
		return foreign_because(f, "version: expected 1, got %u", version >> 8);
	r->bytes = bytes_u32(data + 4, swapped);
	r->sector = bytes_u64(data + 16, swapped);
	return vscsi_take(f, bytes_u16(data + 12, swapped), bytes_u64(data + 24, swapped), 0, false,
			  r);
}

static enum foreign_step vscsi_2(struct foreign *f, const uint8_t *data, struct request *r)
{
	bool swapped = ((struct vscsi *)f->state)->swapped;
	uint16_t version = bytes_u16(data + 2, swapped);

	if (version >> 8 != 2)
		return foreign_because(f, "version: expected 2, got %u", version >> 8);
	r->bytes = bytes_u32(data + 8, swapped);
	r->sector = bytes_u64(data + 16, swapped);
	return vscsi_take(f, bytes_u16(data, swapped), bytes_u64(data + 24, swapped),
			  bytes_u64(data + 32, swapped), true, r);
}

static enum foreign_step vscsi_record(struct foreign *f, const uint8_t *data, struct request *r)
{
	return f->record_bytes == V1_BYTES ? vscsi_1(f, data, r) : vscsi_2(f, data, r);
}

static int vscsi_begin(struct foreign *f, const struct foreign_head *head, struct err *err)
{
	struct vscsi *v = f->state;
	unsigned int version;

	if (!find_layout(head->data, head->len, &version, &v->swapped))
		return err_set(err, EBADMSG, "%s: expected vscsi records of version 1 or 2",
			       head->path);
	f->record_bytes = version == 1 ? V1_BYTES : V2_BYTES;
	return 0;
}

const struct foreign_format foreign_vscsi = {
	.name = "vscsi",
	.title = "VMware vscsi traces (CloudPhysics), version 1 and 2",
	.detect = vscsi_detect,
	.open = vscsi_open,
	.begin = vscsi_begin,
	.close = vscsi_close,
	.record = vscsi_record,
};
