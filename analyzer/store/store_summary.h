/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_summary: the summaries of a store (formats/summary/segment_summary.h), which remain of
 * segments whose requests retention removed.
 *
 *   DIR/segments/<host>/<boot_id>/<epoch>/<first sequence, 10 digits>-<generation, 10 digits>.sum
 *
 * A summary covers the range from its first to its last sequence. The ranges of a stream's
 * summaries never overlap, except that a later generation may contain earlier ones, which it
 * supersedes. A segment file that a summary names with its hash is superseded too. Superseded files
 * are left by a crash: they do not count, and they are removed when the store is opened for
 * writing.
 */
#ifndef ANALYZER_STORE_SUMMARY_H
#define ANALYZER_STORE_SUMMARY_H

#include <pthread.h>

#include "analyzer/store/store.h"
#include "formats/summary/segment_summary.h"

/*
 * first names the stream and the first sequence. The path has the form
 * "segments/h/b/0...1/0...5-0...1.sum".
 */
void summary_path(const struct segment_name *first, uint64_t generation,
		  char out[SEGMENT_PATH_MAX]);
/*
 * Returns whether the last part of a path is the name of a summary, and gives the numbers in the
 * name.
 */
bool summary_file_name(const char *file, uint64_t *first, uint64_t *generation);

struct summary_file {
	struct segment_name first;
	uint64_t generation;
};
/*
 * A comparison for qsort() of these structs, or of structs that begin with one: by stream and first
 * sequence, the later generation before the earlier.
 */
int summary_file_compare(const void *a, const void *b);

/*
 * Reads a summary into an initialized s and checks it; err names the file. Returns 0, -ENOENT,
 * -EBADMSG, -EPROTONOSUPPORT, -EFBIG, -EIO or -ENOMEM.
 */
int store_summary_read(const struct store *store, const struct segment_name *first,
		       uint64_t generation, struct summary *s, struct err *err);
/*
 * Makes the facts that a catalog keeps of a summary; the caller releases f. Returns 0 or -ENOMEM.
 */
int summary_facts(struct segment_facts *f, const struct summary *s, uint64_t file_bytes);

/*
 * Returns whether the summary with this first sequence and generation names the segment: 1 with
 * this hash, 0 not at all, -EEXIST with another hash, or an error of store_summary_read().
 */
int store_summary_has(const struct store *store, const struct segment_name *first,
		      uint64_t generation, const struct segment_name *n,
		      const struct segment_hash *hash, struct err *err);

/*
 * Does the same for the summary that names the segment now according to the catalog, which the
 * mutex guards.
 */
int store_summary_look_up(struct store *store, pthread_mutex_t *catalog,
			  const struct segment_name *n, const struct segment_hash *hash,
			  struct err *err);

/*
 * Brings the catalog in step with the existing summaries, for store_sync(). files are those of all
 * streams. *changed is set where rows of segments may have been removed.
 */
int store_sync_summaries(struct store *store, struct summary_file *files, size_t nr, bool writer,
			 bool *changed, struct err *err);
/*
 * Returns whether a segment file that is not in the catalog is superseded: 1 (a writer has removed
 * it), 0, -EEXIST where other content of its name is summarized, or -errno.
 */
int store_sync_superseded(struct store *store, const struct segment_name *n,
			  const struct segment_hash *hash, bool writer, struct err *err);

#endif
