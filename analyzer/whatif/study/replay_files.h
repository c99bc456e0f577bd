/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_files: this module makes the files on which stored requests are replayed.
 *
 * A request must meet data: a storage may answer the read of a hole without any access. So a file
 * is written wherever the requests of its plans reach, in pieces of REPLAY_PIECE_BYTES at their own
 * addresses. The disk of an application may be much larger than what it touched within a few
 * seconds, and the rest of the file stays a hole. Then data that were far apart on that disk may
 * lie near each other in the file system. A range of at most REPLAY_WHOLE_BYTES is written whole,
 * which takes seconds and keeps the distances.
 *
 *	struct replay_parts parts;
 *	int ret = replay_parts_make(&parts, plans, nr);
 *	if (ret == 0)
 *		ret = replay_file_write(path, O_CREAT | O_EXCL, &parts, &how, &err);
 *	replay_parts_release(&parts);
 */
#ifndef ANALYZER_REPLAY_FILES_H
#define ANALYZER_REPLAY_FILES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/replay/causal.h"

#define REPLAY_PIECE_BYTES (64u << 10)
#define REPLAY_WHOLE_BYTES (1ull << 30)

struct replay_part {
	uint64_t begin, end; /* bytes; begin < end, both multiples of REPLAY_PIECE_BYTES */
};

struct replay_parts {
	struct replay_part *parts; /* owned; in order, apart from each other */
	size_t nr;
	uint64_t bytes;	    /* of all parts together */
	uint64_t end_bytes; /* the end of the last part */
};

struct replay_write {
	bool quiet;			   /* show no progress on a terminal */
	const volatile sig_atomic_t *stop; /* the write ends with -EINTR once it is set; or NULL */
};

/*
 * Finds the parts of a file that all nr plans together need. Release them whatever this returns: 0
 * or -ENOMEM. O(n log n) for n requests.
 */
int replay_parts_make(struct replay_parts *out, const struct causal_plan *plans, size_t nr);
void replay_parts_release(struct replay_parts *parts);
/* Returns whether a part of the range is left out, so that the file has holes. */
bool replay_parts_have_holes(const struct replay_parts *parts);
/*
 * Opens the file, writes random bytes into its parts, and returns when they are stored. flags:
 * O_CREAT | O_EXCL if the file is to be made; such a file is removed again after an error. Returns
 * 0, -EINTR, -ENOMEM, -EFBIG if the file system takes no file that long, or the errors of open(),
 * pwrite() and fsync().
 */
int replay_file_write(const char *path, int flags, const struct replay_parts *parts,
		      const struct replay_write *how, struct err *err);

#endif
