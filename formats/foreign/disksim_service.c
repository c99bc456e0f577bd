/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disksim_service: DiskSim's validation traces of real drives: `R|W Hit|Miss|Doub sector sectors
 * service interarrival`. Both times are in microseconds; the interarrival time counts from the
 * request before. The drive had one request at a time, so the response time is the service time.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/foreign/foreign.h"

#define US_NS 1000u

struct service {
	uint64_t at_ns; /* arrival of the request before */
};

static int service_open(struct foreign *f, struct err *err)
{
	(void)err;
	f->state = calloc(1, sizeof(struct service));
	return f->state ? 0 : -ENOMEM;
}

static void service_close(struct foreign *f)
{
	free(f->state);
}

static enum foreign_step service_line(struct foreign *f, struct text line, struct request *r)
{
	struct text type, kind, sector, length, lasted, since, rest;
	uint64_t sectors, service_ns, gap_ns;
	struct service *s = f->state;
	uint8_t operation;

	if (!text_word(&line, &type))
		return FOREIGN_NOTHING;
	if (!text_word(&line, &kind) || !text_word(&line, &sector) || !text_word(&line, &length) ||
	    !text_word(&line, &lasted) || !text_word(&line, &since) || text_word(&line, &rest))
		return foreign_because(f, "expected 6 fields parted by blanks");
	if (!text_direction(type, &operation))
		return foreign_because(f, "expected R or W");
	if (!text_is(kind, "Hit") && !text_is(kind, "Miss") && !text_is(kind, "Doub"))
		return foreign_because(f, "expected Hit, Miss or Doub");
	if (!text_u64(sector, &r->sector))
		return foreign_because(f, "sector: expected a number");
	if (!text_u64(length, &sectors) || sectors > UINT32_MAX / SECTOR_BYTES)
		return foreign_because(f, "length: expected sectors, below 4 GiB");
	if (!text_ns(lasted, US_NS, &service_ns) || !text_ns(since, US_NS, &gap_ns))
		return foreign_because(f, "times: expected microseconds");
	if (gap_ns > UINT64_MAX / 4 || s->at_ns > UINT64_MAX / 4)
		return foreign_because(f, "interarrival time: expected less");
	s->at_ns += gap_ns;
	foreign_fill(r, s->at_ns, operation);
	foreign_responded(r, service_ns);
	r->bytes = (uint32_t)sectors * SECTOR_BYTES;
	r->device = (uint32_t)foreign_device_only(f);
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_disksim_service = {
	.name = "disksim-service",
	.title = "DiskSim's validation traces: R|W Hit|Miss|Doub sector sectors service_us gap_us",
	.open = service_open,
	.close = service_close,
	.line = service_line,
};
