/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden: makes the fixed content of tests/golden/segment-v1.bin, -v2.bin, -v4.bin and -v8.bin, in
 * integer arithmetic only.
 *
 * This content never changes, because a file that was once written must stay readable for ever.
 * What a later version adds goes into a file of its own.
 */
#ifndef TESTS_SLOW_GOLDEN_H
#define TESTS_SLOW_GOLDEN_H

#include <stddef.h>

#include "formats/segment/segment.h"

#define NR_GOLDEN_SEGMENTS 4
#define GOLDEN_MAX	   1200

/* Writes the requests of a segment to out, which has room for GOLDEN_MAX. Returns their number. */
size_t golden_requests(unsigned int segment, struct request *out);
/* Adds what version 2 added: the operation of every third request becomes unknown. */
void golden_forget_operations(struct request *r, size_t nr);
/* Adds what version 4 added: every fifth request was under way during a pause. */
void golden_pause_requests(struct request *r, size_t nr);
/* Adds the pauses of version 4 to the ledger. */
void golden_pauses(unsigned int segment, struct ledger *out);
/* Returns the header of the segment without its ledger. It points to static memory. */
struct segment_header golden_header(unsigned int segment);
/* Adds what version 8 added: the file systems of the devices, also in static memory. */
void golden_file_systems(struct segment_header *h);
/* Adds the losses of the segment to an empty ledger. */
void golden_losses(unsigned int segment, struct ledger *out);

#endif
