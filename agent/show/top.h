/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top: the devices live, as a screen on a terminal or as rows like iostat's.
 *
 * Each interval shows what happened in it: differences of the board's counters and histograms, so
 * that the percentiles are of exactly these requests. Idle and hidden devices are left out, and
 * one line says how many.
 */
#ifndef AGENT_TOP_H
#define AGENT_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/show/board.h"
#include "base/buf.h"

/* One device over one interval. Unknown figures are NaN. */
struct top_row {
	char name[PROFILE_NAME_BYTES];
	double per_s[BOARD_DIRECTIONS], mib_per_s[BOARD_DIRECTIONS], kib[BOARD_DIRECTIONS];
	double sequential_ratio[BOARD_DIRECTIONS];
	double mean_s[NR_STAGES], p99_s[NR_STAGES]; /* reads and writes together */
	double in_flight, clients;
};

/* What has no row of its own. */
struct top_rest {
	size_t nr_hidden; /* devices left out */
	uint64_t lost;	  /* requests, since the last step, as the next */
	uint64_t untimed; /* reads and writes without a response time */
	const char *source;
};

struct top_view; /* the board at the last interval */

int top_view_new(struct top_view **out);
void top_view_free(struct top_view *v);

/* Whether windows of at least that length together have been closed since the last step. */
bool top_view_is_due(const struct top_view *v, struct board *b, double interval_s);

/*
 * Rows of what changed since the last call, over the windows closed since; devices come in the
 * order they were met. *rows is valid until the next call. -ENOMEM.
 */
int top_view_step(struct top_view *v, struct board *b, const struct top_row **rows, size_t *nr,
		  struct top_rest *rest);

/*
 * Column titles, and one row, each with its newline. Narrow ones fit 80 columns: they leave out
 * mean sizes, clients and shares of sequential requests.
 */
void top_print_titles(bool is_narrow, struct buf *out);
void top_print_row(const struct top_row *row, bool is_narrow, struct buf *out);
/* Lines on what the rows do not show; nothing where they show all. */
void top_print_rest(const struct top_rest *rest, struct buf *out);
#define TOP_WIDE_COLUMNS 128 /* of a line that is not narrow */

/* A duration in seven columns: "123 us", "4.56ms", "1.20 s", "-" where unknown. */
void top_print_time(double seconds, struct buf *out);

struct top_config {
	struct board *board;
	uint64_t interval_ns; /* > 0 */
	uint64_t count;	      /* 0: until it is told to end */
	const char *title;    /* of the screen */
	bool (*is_over)(void *ctx);
	void *ctx;
};

/*
 * Shows until count intervals have passed, q is pressed, or is_over(). 0, or -errno of the output.
 */
int top_run(const struct top_config *config);
/* The two forms of it; top_run() takes the screen where standard output is a terminal and no count
 * is given. */
int top_run_rows(const struct top_config *config, FILE *out);
int top_run_screen(const struct top_config *config);

#endif
