/* SPDX-License-Identifier: Apache-2.0 */
/* top_who: the lines of the live view that show processes and control groups. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/show/top.h"
#include "base/text/shown.h"

#define PID_COLUMNS	7
#define NUMBERS_COLUMNS 55 /* from "r/s" to "share", with the blank before each */

void top_print_who_titles(enum top_kind kind, struct buf *out)
{
	if (kind == TOP_PROCESSES)
		buf_printf(out, "%*s", PID_COLUMNS, "PID");
	buf_printf(out, " %7s %7s %7s %7s %8s %7s %5s %s\n", "r/s", "w/s", "rMiB/s", "wMiB/s",
		   "response", "inflght", "share", kind == TOP_PROCESSES ? "Process" : "Cgroup");
}

/*
 * Prints a name in at most this many columns. The library that draws the screen is not told of a
 * locale, so that every character beyond ASCII becomes "?".
 */
static void top_who_name(const char *name, int columns, struct buf *out)
{
	char text[4 * WHO_NAME_BYTES];
	int len;

	shown(name[0] ? name : "(unknown)", text, sizeof(text));
	for (char *at = text; *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	len = (int)strlen(text);
	if (len <= columns)
		buf_printf(out, "%s", text);
	else if (columns > 3)
		buf_printf(out, "...%s", text + len - (columns - 3));
}

static void top_who_rate(double per_s, int digits, struct buf *out)
{
	buf_printf(out, " %7.*f", per_s < 100 ? digits : 0, per_s);
}

void top_print_who_row(enum top_kind kind, const struct who_entry *e, const struct who_sum *sum,
		       const struct who_sum *total, double duration_s, int columns, struct buf *out)
{
	int used = NUMBERS_COLUMNS + (kind == TOP_PROCESSES ? PID_COLUMNS : 0);

	if (kind == TOP_PROCESSES && e && e->key)
		buf_printf(out, "%*llu", PID_COLUMNS, (unsigned long long)e->key);
	else if (kind == TOP_PROCESSES)
		buf_printf(out, "%*s", PID_COLUMNS, "-");
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		top_who_rate((double)sum->nr[i] / duration_s, 1, out);
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		top_who_rate((double)sum->bytes[i] / duration_s / 0x1p20, 2, out);
	buf_printf(out, " ");
	top_print_time(who_sum_mean_s(sum), out);
	top_who_rate(who_sum_time_s(sum) / duration_s, 2, out);
	buf_printf(out, " %4.0f%% ",
		   total->requests ? 100 * (double)sum->requests / (double)total->requests : 0.0);
	top_who_name(e ? e->name : "all others", columns - used - 1, out);
	buf_printf(out, "\n");
}
