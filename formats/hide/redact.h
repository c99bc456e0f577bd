/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact: removes from a segment everything that identifies its machine, its people and their work.
 *
 * Replaced by pseudonyms (pseudonym.h): host, boot id, process names, cgroup paths, and device
 * names that the kernel did not make. Moved by regions (place_map.h): the sectors of requests.
 * Removed from stored profiles: the distribution of offsets, the distances between
 * requests, and texts in the details of a source.
 * Everything else stays: times, lengths, operations, flags, errors, numbers of threads, processes,
 * cgroups and devices, sizes of devices, losses, and all other numbers of the profiles.
 */
#ifndef FORMATS_REDACT_H
#define FORMATS_REDACT_H

#include <stddef.h>

#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/hide/pseudonym.h"

struct redactor;

/* The key is borrowed. Returns 0 or -ENOMEM. */
int redactor_new(struct redactor **out, const struct pseudonym_key *k);
void redactor_free(struct redactor *r);

/*
 * Appends the segment at data to out in redacted form, with the same sequence and epoch and the
 * same requests in the same order. Returns 0, or -errno as segment_reader_new() and
 * segment_writer_finish() do, with one line in err; out is then unchanged.
 */
int redactor_segment(struct redactor *r, const void *data, size_t len, struct buf *out,
		     struct err *err);

#endif
