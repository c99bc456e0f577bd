/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_summary: the summaries of a store (formats/summary/segment_summary.h): what is left of segments whose
 * requests retention removed.
 *
 *   DIR/segments/<host>/<boot_id>/<epoch>/<first sequence, 10 digits>-<generation, 10 digits>.sum
 *
 * The ranges of sequences of a stream's summaries, from the first to the last each has, never overlap; a
 * later generation may contain earlier ones, which it supersedes. A segment file that a summary names
 * with its hash is superseded too. What is superseded is what a crash left: it counts for nothing,
 * and who opens the store to write removes it.
 */
#ifndef ANALYZER_STORE_SUMMARY_H
#define ANALYZER_STORE_SUMMARY_H

#include <pthread.h>

#include "analyzer/store/store.h"
#include "formats/summary/segment_summary.h"

/* first: of the stream, with the first sequence. "segments/h/b/0...1/0...5-0...1.sum" */
void summary_path(const struct segment_name *first, uint64_t generation,
		  char out[SEGMENT_PATH_MAX]);
/* Whether the last part of a path is a summary's; then what it names. */
bool summary_file_name(const char *file, uint64_t *first, uint64_t *generation);

struct summary_file {
	struct segment_name first;
	uint64_t generation;
};
/* For qsort() of them, or of what begins with one: by stream and first; the later generation before the earlier. */
int summary_file_compare(const void *a, const void *b);

/* Reads and checks one into an initialized s; err names it. -ENOENT, -EBADMSG, -EPROTONOSUPPORT, -EFBIG, -EIO, -ENOMEM. */
int store_summary_read(const struct store *store, const struct segment_name *first,
		       uint64_t generation, struct summary *s, struct err *err);
/* What a catalog keeps of it; to be released. -ENOMEM. */
int summary_facts(struct segment_facts *f, const struct summary *s, uint64_t file_bytes);

/*
 * Whether the summary of that first and generation names the segment: 1 with this hash, 0 not at all,
 * -EEXIST with another, or as store_summary_read().
 */
int store_summary_has(const struct store *store, const struct segment_name *first,
		      uint64_t generation, const struct segment_name *n,
		      const struct segment_hash *hash, struct err *err);

/* The same of whichever summary names it now, by the catalog, which the mutex guards. */
int store_summary_look_up(struct store *store, pthread_mutex_t *catalog,
			  const struct segment_name *n, const struct segment_hash *hash,
			  struct err *err);

/* Brings the catalog in step with the summaries there: for store_sync(). files: of all streams.
 * *changed: rows of segments may have gone. */
int store_sync_summaries(struct store *store, struct summary_file *files, size_t nr, bool writer,
			 bool *changed, struct err *err);
/* Whether a segment file that is in no catalog is superseded: 1, and removed by a writer; 0; -EEXIST:
 * another content of its name is summarized; -errno. */
int store_sync_superseded(struct store *store, const struct segment_name *n,
			  const struct segment_hash *hash, bool writer, struct err *err);

#endif
