/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection_told: opens a selection (selection.h) and prints the remarks that a person should read
 * about it: which of its requests retention or the agents left out, and which devices exist where
 * it has no request.
 */
#ifndef ANALYZER_STORE_SCAN_SELECTION_TOLD_H
#define ANALYZER_STORE_SCAN_SELECTION_TOLD_H

#include "analyzer/answer/teller.h"
#include "analyzer/store/scan/selection.h"

/*
 * Opens the scan of the selection's store or, where it has none, of its files. hooks may be NULL;
 * where they take no summaries, a note says what retention left of the selection. Returns 0, or
 * -errno with one line in err.
 */
int selection_open(struct selection *sel, const struct teller *t, struct scan **out,
		   const struct scan_hooks *hooks, struct err *err);
/* Prints a line about requests of the selection that retention has summarized or dropped. */
void selection_note_retained(const struct teller *t, const struct scan_retained *r);
/*
 * Returns how many requests the agents kept back on purpose, and prints a line about them. Call
 * this after the scan was read. nr_in_profiles of these requests are in the profiles that were
 * shown. The scan may be NULL.
 */
uint64_t selection_kept_back(const struct scan *scan);
void selection_note_kept_back(const struct teller *t, const struct scan *scan,
			      uint64_t nr_in_profiles);
/*
 * Explains a scan that found no request; call it after scan_close(). If something was selected,
 * this returns -EINVAL with a line in err that names the devices that exist. Otherwise the source
 * is empty: the function prints a remark and returns 0.
 */
int selection_nothing(const struct selection *sel, const struct teller *t, struct err *err);
/*
 * Does the same for one of several paths, each a store's folder or a segment file. Returns -EINVAL
 * with a line in err that names the path and its devices.
 */
int selection_nothing_of(const struct selection *sel, const char *path, struct err *err);
/*
 * Does the same for a procedure that fails anyway without requests. Returns true where something
 * was selected; err then has -EINVAL and the line.
 */
bool selection_says_nothing(const struct selection *sel, struct err *err);

/*
 * Reads a scan to its end without using the requests: after that the scan knows all streams and
 * traces, and has called all hooks. *nr receives the number of requests. Returns 0 or -errno with
 * one line in err.
 */
int selection_read_all(struct scan *s, uint64_t *nr, struct err *err);

#endif
