/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally: what is lost with a segment: its requests per device, and the losses it carried itself.
 */
#ifndef AGENT_TALLY_H
#define AGENT_TALLY_H

#include <stddef.h>

#include "formats/ledger.h"

/*
 * Appends to out. A segment that cannot be read is one loss of unknown count over an unknown
 * interval. 0, -ENOMEM. Cost: decodes the segment.
 */
int tally_segment(const void *data, size_t len, enum loss_cause cause, struct ledger *out);

#endif
