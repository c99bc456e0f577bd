/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_name: the name of a segment and its path in a store.
 *
 *   DIR/segments/<host>/<boot_id>/<epoch, 20 digits>/<sequence, 10 digits>.seg
 *
 * Hosts and boot ids come from the network and become names of folders, so they may have only
 * letters, digits, '.', '_' and '-', no dot at the beginning, and 1 to 63 bytes. A file whose name
 * begins with a dot or does not end in .seg is not a segment; writers use such names until a file
 * is whole.
 */
#ifndef ANALYZER_SEGMENT_NAME_H
#define ANALYZER_SEGMENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/segment/segment.h"
#include "formats/segment/segment_word.h"

#define SEGMENT_EPOCH_MAX    INT64_MAX	   /* SQLite's integers are signed */
#define SEGMENT_SEQUENCE_MAX 9999999999ull /* ten digits */
#define SEGMENT_PATH_MAX     256	   /* size of the relative path, with the final 0 */

struct segment_name {
	char host[SEGMENT_NAME_BYTES];
	char boot_id[SEGMENT_NAME_BYTES];
	uint64_t epoch, sequence;
};

/* Returns 0, or -EINVAL with the invalid field in err. */
int segment_name_check(const struct segment_name *n, struct err *err);
/*
 * Parses host, boot_id, epoch and sequence from text; numbers have digits only. Returns 0 or
 * -EINVAL.
 */
int segment_name_parse(struct segment_name *n, const char *host, const char *boot_id,
		       const char *epoch, const char *sequence, struct err *err);
/* Makes the name from a header. Returns 0, or -EINVAL where it is not allowed as a name. */
int segment_name_of(struct segment_name *n, const struct segment_header *h, struct err *err);

/*
 * The first writes the path relative to the store, "segments/h/b/0...1/0...2.seg", the second its
 * folder, without the last part.
 */
void segment_name_path(const struct segment_name *n, char out[SEGMENT_PATH_MAX]);
void segment_name_folder(const struct segment_name *n, char out[SEGMENT_PATH_MAX]);
/* Compares by host, boot id, epoch and sequence, in the order of strcmp and of numbers. */
int segment_name_compare(const struct segment_name *a, const struct segment_name *b);
/* Returns whether both belong to one run of an agent: the same host, boot id and epoch. */
bool segment_name_same_stream(const struct segment_name *a, const struct segment_name *b);

/* Returns whether the pattern, a host's name or a beginning with *, matches the host. */
bool segment_hosts_match(const char *pattern, const char *host);
/* Returns whether the text is a valid host name, possibly with a * at its end. */
bool segment_hosts_ok(const char *text);

#endif
