/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top: shows the devices live, as a screen on a terminal or as rows like those of iostat.
 *
 * Each interval shows what happened in it: differences of the board's counters and histograms, so
 * that the percentiles are those of exactly these requests. Idle and hidden devices are left out,
 * and one line says how many.
 *
 * On a terminal, keys switch to the distribution of the response times of each device, or to the
 * processes or the control groups that made the requests of the same interval, those with most
 * requests first; one line sums up all that have no room.
 */
#ifndef AGENT_TOP_H
#define AGENT_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/show/board.h"
#include "base/memory/buf.h"

#define NR_TOP_QUANTILES 5 /* 50 %, 90 %, 95 %, 99 %, 99.9 % */

/* The response times (stage total) of one direction over one interval. */
struct top_times {
	uint64_t nr;
	double quantile_s[NR_TOP_QUANTILES]; /* NaN: histogram_quantile_s() knows none */
	double max_s;			     /* to the end of its bucket, 2.2 %; NaN: no request */
};

/* One device over one interval. Unknown values are NaN. */
struct top_row {
	char name[PROFILE_NAME_BYTES];
	double per_s[BOARD_DIRECTIONS], mib_per_s[BOARD_DIRECTIONS], kib[BOARD_DIRECTIONS];
	double sequential_ratio[BOARD_DIRECTIONS];
	double mean_s[NR_STAGES], p99_s[NR_STAGES]; /* of reads and writes together */
	double in_flight, clients;
	struct top_times times[BOARD_DIRECTIONS];
};

/* The facts that the rows do not show. */
struct top_rest {
	size_t nr_hidden; /* number of devices that are hidden */
	uint64_t lost;	  /* requests lost since the last step */
	uint64_t untimed; /* reads and writes without a response time */
	const char *source;
	double duration_s;
	/* who made the requests, most requests first; NULL where the board does not keep them */
	const struct who *processes, *cgroups;
};

/* The views, and the keys that switch to them. */
enum top_kind {
	TOP_DEVICES,
	TOP_TIMES,
	TOP_PROCESSES,
	TOP_CGROUPS,
};
#define NR_TOP_KINDS 4
#define TOP_KEYS     "dtpc"

struct top_view; /* keeps the state of the board at the last interval */

int top_view_new(struct top_view **out);
void top_view_free(struct top_view *v);

/* Returns whether the windows closed since the last step have at least this length together. */
bool top_view_is_due(const struct top_view *v, struct board *b, double interval_s);

/*
 * Makes rows of the changes since the last call, over the windows that closed since then. Devices
 * come in the order in which they were first seen. *rows is valid until the next call. Returns 0 or
 * -ENOMEM.
 */
int top_view_step(struct top_view *v, struct board *b, const struct top_row **rows, size_t *nr,
		  struct top_rest *rest);

/*
 * Print the column titles and one row, each with its newline. The narrow form fits 80 columns; it
 * leaves out mean sizes, clients and the shares of sequential requests.
 */
void top_print_titles(bool is_narrow, struct buf *out);
void top_print_row(const struct top_row *row, bool is_narrow, struct buf *out);

/* Adds now - before to out, where before is an earlier state of now. Returns 0 or -ENOMEM. */
int top_histogram_since(struct histogram *out, const struct histogram *now,
			const struct histogram *before);
/*
 * Gives the times that came to now since seen, which becomes a copy of now. Returns 0 or -ENOMEM.
 */
int top_times_take(struct top_times *t, struct histogram *seen, const struct histogram *now);
/* Print the column titles and one direction of a device, in at most 80 columns and a newline. */
void top_print_times_titles(struct buf *out);
void top_print_times_row(const char *name, int direction, const struct top_times *t,
			 double duration_s, struct buf *out);

/* Prints lines about the facts that the rows do not show, or nothing if there are none. */
void top_print_rest(const struct top_rest *rest, struct buf *out);

/*
 * Print the column titles and one issuer, each with its newline, in at most this many columns, of
 * which 80 are enough. total is the sum of all issuers in the interval. Names come from outside, so
 * control characters in them are shown as \xHH, and a long path loses its beginning. e is NULL for
 * the line that sums up all issuers that have no line of their own.
 */
void top_print_who_titles(enum top_kind kind, struct buf *out);
void top_print_who_row(enum top_kind kind, const struct who_entry *e, const struct who_sum *sum,
		       const struct who_sum *total, double duration_s, int columns,
		       struct buf *out);

#define TOP_WIDE_COLUMNS 128 /* width of a line in the wide form */

/* Prints a duration in seven columns: "123 us", "4.56ms", "1.20 s", or "-" where it is unknown. */
void top_print_time(double seconds, struct buf *out);

struct top_config {
	struct board *board;
	uint64_t interval_ns; /* above 0 */
	uint64_t count;	      /* 0: until it is asked to end */
	const char *title;    /* title of the screen */
	bool (*is_over)(void *ctx);
	void *ctx;
};

/*
 * Returns whether top_run() would show a screen and not rows. For a screen, board_want_who() is
 * called first, so that the screen can show who made the requests.
 */
bool top_is_screen(uint64_t count);
/*
 * Shows the view until count intervals have passed, q is pressed, or is_over() returns true.
 * Returns 0, or -errno of the output.
 */
int top_run(const struct top_config *config);
/*
 * The two forms of the view. top_run() uses the screen where standard output is a terminal and no
 * count is given.
 */
int top_run_rows(const struct top_config *config, FILE *out);
int top_run_screen(const struct top_config *config);

#endif
