/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing_state: the declarations that pairing.c and pairing_out.c share. No other file includes
 * this header.
 */
#ifndef FORMATS_PAIRING_STATE_H
#define FORMATS_PAIRING_STATE_H

#include "base/memory/u64map.h"
#include "formats/pairing.h"
#include "formats/pairing_table.h"

struct seen_device {
	uint32_t device;
	uint64_t gap_ns;	/* events up to this time may be missing */
	uint64_t last_flush_ns; /* last dispatch of a flush by the block layer; 0: there was none */
};

struct pairing {
	struct pairing_sink sink;
	struct pairing_counts counts;
	struct held_table table;
	struct seen_device *devices; /* owned */
	size_t nr_devices, last_device;
	/* maps a device's number to its index, because a hostile trace can have many devices */
	struct u64map by_number;
	/* number of requests in the table that were handed over without an end */
	size_t nr_told;
	uint8_t layer, source;
};

#define TOLD_KEEP_NS 600000000000ull /* time for which the end of such a request is awaited */

/* Removes a request from the table. Returns whether it was handed over before. */
bool pairing_take_out(struct pairing *p, uint32_t i);
/* Hands the request over as one that ended at end_ns, and removes it from the table. */
void pairing_finish(struct pairing *p, uint32_t i, uint64_t end_ns);
/*
 * Hands the request over as one without an end. If its end comes later it is not handed over again.
 */
void pairing_tell(struct pairing *p, uint32_t i);
/* Removes a request whose end was not seen, or of which only the data's end was seen. */
void pairing_give_up(struct pairing *p, uint32_t i);

#endif
