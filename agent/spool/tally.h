/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally: finds the losses to note when a segment gets lost: its requests per device and the losses
 * that it carried.
 */
#ifndef AGENT_TALLY_H
#define AGENT_TALLY_H

#include <stddef.h>

#include "formats/ledger.h"

/*
 * Appends the losses to out. Where only the requests cannot be read, they are one loss of unknown
 * count over the segment's interval. Returns 0; -EBADMSG with nothing appended where not even the
 * interval can be read; or -ENOMEM. Cost: the segment is decoded.
 */
int tally_segment(const void *data, size_t len, enum loss_cause cause, struct ledger *out);

#endif
