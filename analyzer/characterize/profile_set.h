/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_set: the profiles of a file, a store or a trace, by host and device.
 *
 * A JSON file holds one blkcast.profile/1 or an array of them. Several profiles of one host and
 * device are its windows, and `whole` is merged from all of them (formats/profile/profile_merge.h):
 * sums stay exact, and values that need single requests (think time, burstiness, locality) are
 * unknown. A trace is replayed twice: once as a whole, and once in some thirty windows, or ten
 * where there are hundreds of devices. The spread of the windows shows how much the values would
 * differ if the trace had begun a little earlier or later.
 */
#ifndef ANALYZER_PROFILE_SET_H
#define ANALYZER_PROFILE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/store/scan/selection.h"
#include "base/text/err.h"
#include "formats/profile/profile.h"
#include "formats/segment/segment.h"

struct profile_group {
	struct profile whole;
	bool has_whole;		 /* false: `whole` is merged from the windows */
	struct profile *windows; /* owned; windows observed up to their ends; may be none */
	size_t nr_windows;
	void *sums; /* owned; sums of the windows, where they are not kept */
	/* Facts that only a trace has; they are unknown for a JSON file. */
	char file_system[SEGMENT_NAME_BYTES]; /* "": unknown */
	uint64_t device_bytes;		      /* 0: unknown */
};

/*
 * Adds a window to *sums, which is NULL before the first one and is freed by free(). Returns 0 or
 * -ENOMEM.
 */
typedef int profile_set_sum(void **sums, const struct profile *window);

struct profile_set {
	/*
	 * NULL: every window is kept. Otherwise each window is passed to this function and
	 * released, because the windows of hundreds of devices take tens of MiB. The caller sets it
	 * before
	 * profile_set_load().
	 */
	profile_set_sum *sum;
	/*
	 * Distributions over addresses and miss-ratio curves stay unknown. The caller sets this
	 * before profile_set_load() where it does not look at them.
	 */
	bool leave_out_regions;
	struct profile_group *groups; /* owned; in order of first appearance */
	size_t nr_groups;
	/*
	 * Called now and then with the part of a trace that has been read. A trace is read twice.
	 * NULL: not called. The caller sets this after profile_set_init().
	 */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	bool is_second; /* the second reading is under way */
};

void profile_set_init(struct profile_set *s);
void profile_set_release(struct profile_set *s);
/*
 * Loads path, which is a JSON file, a segment file or a store's folder. sel holds the choices of
 * the command line and is otherwise zeroed. It selects among the requests of a trace, and by host
 * and device in a JSON file. Returns 0; -ENODATA where the selection leaves nothing; or -ENOENT,
 * -EINVAL, -EBADMSG and so on with one line in err.
 */
int profile_set_load(struct profile_set *s, const char *path, const struct selection *sel,
		     struct err *err);
/*
 * Writes names such as "sda of db1, sdb of db1" to text, or "none". Where they do not fit they end
 * in "...".
 */
void profile_set_names(const struct profile_set *s, char *text, size_t bytes);

#endif
