/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress: one line on standard error with share and time left, if the work takes longer than a
 * second. Where standard error is no terminal, a line without control characters is added every
 * 30 seconds, so that a log shows that the work goes on. Results never share the stream.
 */
#ifndef ANALYZER_PROGRESS_H
#define ANALYZER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *label; /* borrowed: "characterize" */
	uint64_t total;	   /* units of work; 0: unknown */
	uint64_t begin_ns, shown_ns;
	bool on, drawn;
	bool as_lines; /* a line now and then, not a bar that is drawn again */
	bool for_page; /* lines for the process that asked (answer.h), not a bar */
};

/* Such a line is this word, the work done and the whole work: "progress 12 100". */
#define PROGRESS_WORD "progress "

/*
 * From this call on progress is printed as a line every ten seconds, on a terminal as well: mpirun
 * and srun collect the lines of several processes.
 */
void progress_as_lines(void);

void progress_begin(struct progress *p, const char *label, uint64_t total, bool quiet);
/*
 * A caller may call this function per batch, because the function draws at most ten times a second.
 */
void progress_update(struct progress *p, uint64_t done);
/* Removes the line until the next update, so that something else can be printed. */
void progress_hide(struct progress *p);
/* Removes the line for good. */
void progress_end(struct progress *p);

#endif
