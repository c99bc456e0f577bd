/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact: a segment without what names its machine, its people and their work.
 *
 * Replaced by pseudonyms (pseudonym.h): host, boot id, process names, cgroup paths, device names
 * that the kernel did not make. Moved by regions (place_map.h): the places of requests. Taken out of
 * stored profiles: the distribution of places, and texts in what only the source knows. All else stays
 * as it was: times, lengths, operations, flags, errors, numbers of threads, processes, cgroups
 * and devices, sizes of devices, losses, all other numbers of the profiles.
 */
#ifndef FORMATS_REDACT_H
#define FORMATS_REDACT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "formats/hide/pseudonym.h"

struct redactor;

/* The key is borrowed. 0, -ENOMEM. */
int redactor_new(struct redactor **out, const struct pseudonym_key *k);
void redactor_free(struct redactor *r);

/*
 * Appends the segment at data, redacted, to out: the same sequence and epoch, the same requests in the
 * same order. -errno as segment_reader_new() and segment_writer_finish(), with one line in err;
 * out is then as it was.
 */
int redactor_segment(struct redactor *r, const void *data, size_t len, struct buf *out,
		     struct err *err);

#endif
