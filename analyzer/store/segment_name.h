/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_name: what names a segment, and where it lies in a store.
 *
 *   DIR/segments/<host>/<boot_id>/<epoch, 20 digits>/<sequence, 10 digits>.seg
 *
 * Hosts and boot ids come from the network and become folder names: letters, digits, '.', '_' and
 * '-' only, no leading dot, 1 to 63 bytes. A file whose name begins with a dot or does not end in
 * .seg is nobody's segment: writers use such names until a file is whole.
 */
#ifndef ANALYZER_SEGMENT_NAME_H
#define ANALYZER_SEGMENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/segment/segment.h"
#include "formats/segment/segment_word.h"

#define SEGMENT_EPOCH_MAX    INT64_MAX	   /* SQLite's integers are signed */
#define SEGMENT_SEQUENCE_MAX 9999999999ull /* ten digits */
#define SEGMENT_PATH_MAX     256	   /* of the relative path, with the final 0 */

struct segment_name {
	char host[SEGMENT_NAME_BYTES];
	char boot_id[SEGMENT_NAME_BYTES];
	uint64_t epoch, sequence;
};

/* 0, or -EINVAL with the field that is wrong. */
int segment_name_check(const struct segment_name *n, struct err *err);
/* Takes host, boot_id, epoch and sequence as text, digits only; 0 or -EINVAL. */
int segment_name_parse(struct segment_name *n, const char *host, const char *boot_id,
		       const char *epoch, const char *sequence, struct err *err);
/* The name that a header gives; -EINVAL where it may not be one. */
int segment_name_of(struct segment_name *n, const struct segment_header *h, struct err *err);

/* "segments/h/b/0...1/0...2.seg", relative to the store; and its folder, without the last part. */
void segment_name_path(const struct segment_name *n, char out[SEGMENT_PATH_MAX]);
void segment_name_folder(const struct segment_name *n, char out[SEGMENT_PATH_MAX]);
/* By host, boot id, epoch, sequence, as memcmp and strcmp order them. */
int segment_name_compare(const struct segment_name *a, const struct segment_name *b);
/* Of one agent's run: host, boot id and epoch. */
bool segment_name_same_stream(const struct segment_name *a, const struct segment_name *b);

#endif
