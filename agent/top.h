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

#include "agent/board.h"
#include "formats/buf.h"

/* One device over one interval. Unknown figures are NaN. */
struct top_row {
	char name[PROFILE_NAME_BYTES];
	double per_s[BOARD_DIRECTIONS], mib_per_s[BOARD_DIRECTIONS], kib[BOARD_DIRECTIONS];
	double sequential_ratio[BOARD_DIRECTIONS];
	double mean_s[NR_STAGES], p99_s[NR_STAGES]; /* reads and writes together */
	double in_flight, clients;
};

struct top_view; /* the board at the last interval */

int top_view_new(struct top_view **out);
void top_view_free(struct top_view *v);

/* Whether windows of at least that length together have been closed since the last step. */
bool top_view_is_due(const struct top_view *v, struct board *b, double interval_s);

/*
 * Rows of what changed since the last call, over the windows closed since; devices come in the
 * order they were met. *rows is valid until the next call. *nr_hidden counts devices left out;
 * *lost is the requests lost since the last call. -ENOMEM.
 */
int top_view_step(struct top_view *v, struct board *b, const struct top_row **rows, size_t *nr,
		  size_t *nr_hidden, uint64_t *lost);

/* Column titles, and one row, each with its newline. */
void top_print_titles(struct buf *out);
void top_print_row(const struct top_row *row, struct buf *out);
/* The line on what is not shown; nothing where all is. */
void top_print_hidden(size_t nr_hidden, struct buf *out);

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

/* Shows until count intervals have passed, q is pressed, or is_over(). 0, or -errno of the output. */
int top_run(const struct top_config *config);
/* The two forms of it; top_run() takes the screen where standard output is a terminal and no count
 * is given. */
int top_run_rows(const struct top_config *config, FILE *out);
int top_run_screen(const struct top_config *config);

#endif
