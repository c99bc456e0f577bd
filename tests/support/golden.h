/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden: the fixed content of tests/golden/segment-v1.bin, -v2.bin and -v4.bin, in whole-number arithmetic alone.
 *
 * It never changes: a file once written must be read for ever. What a later version adds goes into a
 * file of its own.
 */
#ifndef TESTS_SLOW_GOLDEN_H
#define TESTS_SLOW_GOLDEN_H

#include <stddef.h>

#include "formats/segment/segment.h"

#define NR_GOLDEN_SEGMENTS 4
#define GOLDEN_MAX	   1200

/* The requests of a segment into out (GOLDEN_MAX of them); returns how many. */
size_t golden_requests(unsigned int segment, struct request *out);
/* What version 2 added: of every third request it is not known whether it read or wrote. */
void golden_forget_operations(struct request *r, size_t nr);
/* What version 4 added: every fifth request was under way in a pause ... */
void golden_pause_requests(struct request *r, size_t nr);
/* ... and the ledger has the pauses. */
void golden_pauses(unsigned int segment, struct ledger *out);
/* Its header, but for the ledger; static memory. */
struct segment_header golden_header(unsigned int segment);
/* Its losses, added to an empty ledger. */
void golden_losses(unsigned int segment, struct ledger *out);

#endif
