/* SPDX-License-Identifier: Apache-2.0 */
/*
 * characterize: writes the profiles of a selection, or what all its devices do together, or who
 * made its requests. Several ranks share the hosts, or, where there are periods, the devices; where
 * their results may differ from those of one process, rank 0 reads everything again.
 */
#ifndef ANALYZER_CHARACTERIZE_CHARACTERIZE_H
#define ANALYZER_CHARACTERIZE_CHARACTERIZE_H

#include <stdio.h>

#include "analyzer/characterize/replay.h"
#include "analyzer/store/scan/selection_told.h"

enum characterize_form {
	CHARACTERIZE_PROFILES, /* and the sum, where there are several devices */
	CHARACTERIZE_TOGETHER, /* the sum over all hosts and devices alone */
	CHARACTERIZE_WHO,      /* the processes and control groups alone */
};

struct characterize {
	const struct teller *teller;
	enum characterize_form form;
	bool json;
	FILE *out;
	struct replay_config config; /* window_ns, window and idle are the caller's */
	bool is_empty;		     /* a result: the selection has nothing */
};

/* Returns 0, or -errno with a line in err. */
int characterize(struct characterize *q, struct selection *sel, struct err *err);

#endif
