/* SPDX-License-Identifier: Apache-2.0 */
/*
 * characterize: writes the profiles of a selection, or the load of all its devices together, or the
 * processes that made its requests. Several ranks share the hosts or, if there are periods, the
 * devices. If their results may differ from those of one process, rank 0 reads everything again.
 */
#ifndef ANALYZER_CHARACTERIZE_CHARACTERIZE_H
#define ANALYZER_CHARACTERIZE_CHARACTERIZE_H

#include <stdio.h>

#include "analyzer/characterize/replay.h"
#include "analyzer/store/scan/selection_told.h"

enum characterize_form {
	CHARACTERIZE_PROFILES, /* profiles and, for several devices, their sum */
	CHARACTERIZE_TOGETHER, /* only the sum over all hosts and devices */
	CHARACTERIZE_WHO,      /* only the processes and control groups */
};

struct characterize {
	const struct teller *teller;
	enum characterize_form form;
	bool json;
	FILE *out;
	struct replay_config config; /* window_ns, window and idle are the caller's */
	bool is_empty;		     /* a result: the selection has no requests */
};

/* Returns 0, or -errno with a line in err. */
int characterize(struct characterize *q, struct selection *sel, struct err *err);

#endif
