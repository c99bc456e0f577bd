/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic_question: writes a job of fio that gives a profile back (replay/mimic.h), or one that
 * replays stored requests at the recorded times, with the log beside it.
 */
#ifndef ANALYZER_QUESTION_MIMIC_QUESTION_H
#define ANALYZER_QUESTION_MIMIC_QUESTION_H

#include <jansson.h>

#include "analyzer/replay/mimic.h"
#include "analyzer/store/scan/selection_told.h"
#include "base/memory/buf.h"

#define MIMIC_LOG_BYTES 4096

struct mimic_question {
	const struct teller *teller;
	struct selection *sel; /* selects the profile, or the requests */
	struct mimic_options options;
	const char *target, *output; /* output NULL: standard output */
	struct word_list runs;	     /* profiles of the job's own runs, by which it is corrected */
	bool as_json;
	json_t *json; /* a result, owned by the caller: what the job is, where as_json */
	/* The members below are set while the job is made. */
	char log[MIMIC_LOG_BYTES]; /* beside the output; "" where there is none */
	uint64_t nr_logged;
	struct buf text; /* text of the job; the caller initializes and releases this */
};

/* Takes what may differ, and the target, into the options. To be called first. */
int mimic_question_options(struct mimic_question *q, const struct word_list *leave_out,
			   struct err *err);
/* Writes the job of the profile at path. Returns 0, or -errno with one line in err. */
int mimic_question_job(struct mimic_question *q, const char *path, struct err *err);
/* Writes a stored window as fio's log, and the job that replays it at the recorded times. */
int mimic_question_replay(struct mimic_question *q, struct err *err);

#endif
