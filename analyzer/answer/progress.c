// SPDX-License-Identifier: Apache-2.0
#include "analyzer/answer/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/answer/answer.h"
#include "base/system/clock.h"
#include "base/text/units.h"

#define QUIET_NS  1000000000ull /* work shorter than this needs no bar */
#define REDRAW_NS 100000000ull
#define BAR_CELLS 24

/*
 * The time between two lines of processes that work together, and of one process whose standard
 * error goes to a file or a pipe.
 */
#define RANKS_LINES_NS 10000000000ull
#define LINES_NS       30000000000ull

static bool progress_lines;

void progress_as_lines(void)
{
	progress_lines = true;
}

static uint64_t progress_pause_ns(const struct progress *p)
{
	if (progress_lines)
		return RANKS_LINES_NS;
	return p->as_lines ? LINES_NS : REDRAW_NS;
}

void progress_begin(struct progress *p, const char *label, uint64_t total, bool quiet)
{
	*p = (struct progress){
		.label = label,
		.total = total,
		.begin_ns = clock_monotonic_ns(),
		.for_page = answer_is_for_page(),
		.as_lines = progress_lines || (!answer_is_for_page() && !isatty(STDERR_FILENO)),
		.on = !quiet,
	};
	if (p->as_lines)
		p->shown_ns = p->begin_ns;
}

void progress_update(struct progress *p, uint64_t done)
{
	char left[UNITS_BYTES] = "?";
	char bar[BAR_CELLS + 1];
	double share, spent_s;
	uint64_t now;

	if (!p->on)
		return;
	now = clock_monotonic_ns();
	if (now - p->begin_ns < QUIET_NS || now - p->shown_ns < progress_pause_ns(p))
		return;
	p->shown_ns = now;
	if (p->for_page) {
		fprintf(stderr, PROGRESS_WORD "%llu %llu\n", (unsigned long long)done,
			(unsigned long long)p->total);
		return;
	}
	p->drawn = !p->as_lines;
	spent_s = (double)(now - p->begin_ns) / 1e9;
	if (!p->total) {
		fprintf(stderr, p->as_lines ? "%s: %llu (%.0f/s)\n" : "\r\033[K%s: %llu (%.0f/s)",
			p->label, (unsigned long long)done, (double)done / spent_s);
		return;
	}
	share = done < p->total ? (double)done / (double)p->total : 1;
	if (share > 0)
		units_time(spent_s * (1 - share) / share, left);
	if (p->as_lines) {
		fprintf(stderr, "%s: %.0f %%, %s left\n", p->label, share * 100, left);
		return;
	}
	for (int i = 0; i < BAR_CELLS; i++)
		bar[i] = i < (int)(share * BAR_CELLS) ? '#' : '.';
	bar[BAR_CELLS] = '\0';
	fprintf(stderr, "\r\033[K%s: [%s] %3.0f %%, %s left", p->label, bar, share * 100, left);
}

void progress_hide(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}

void progress_end(struct progress *p)
{
	progress_hide(p);
	p->on = false;
}
