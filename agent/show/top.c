/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "agent/show/top.h"

#define TITLES_EVERY 24 /* intervals between two lines of column titles */
#define LOOK_NS	     50000000u

/* A device's counters at the last interval. */
struct seen_device {
	uint32_t device;
	uint64_t requests[BOARD_DIRECTIONS], bytes[BOARD_DIRECTIONS];
	uint64_t sequential[BOARD_DIRECTIONS], all_requests;
	double in_flight_s;
	struct histogram stage[NR_STAGES];	  /* of both directions together */
	struct histogram total[BOARD_DIRECTIONS]; /* of STAGE_TOTAL */
};

struct top_view {
	struct seen_device *seen;
	size_t nr_seen;
	struct top_row *rows;
	size_t cap_rows;
	uint64_t lost;
	uint64_t untimed;
	double watched_s;
	struct who processes, cgroups;
};

int top_view_new(struct top_view **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void top_view_free(struct top_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->nr_seen; i++) {
		for (int stage = 0; stage < NR_STAGES; stage++)
			histogram_release(&v->seen[i].stage[stage]);
		for (int direction = 0; direction < BOARD_DIRECTIONS; direction++)
			histogram_release(&v->seen[i].total[direction]);
	}
	who_release(&v->processes);
	who_release(&v->cgroups);
	free(v->seen);
	free(v->rows);
	free(v);
}

static struct seen_device *seen_of(struct top_view *v, uint32_t device)
{
	struct seen_device *more;

	for (size_t i = 0; i < v->nr_seen; i++)
		if (v->seen[i].device == device)
			return &v->seen[i];
	more = realloc(v->seen, (v->nr_seen + 1) * sizeof(*more));
	if (!more)
		return NULL;
	v->seen = more;
	more[v->nr_seen] = (struct seen_device){ .device = device };
	return &more[v->nr_seen++];
}

/* Takes the times of one stage, of all directions together; seen holds those of the last call. */
static int fill_stage(struct top_row *row, struct histogram *seen, const struct board_device *d,
		      int stage)
{
	struct histogram both, since;
	int ret = 0;

	histogram_init(&both);
	histogram_init(&since);
	row->mean_s[stage] = row->p99_s[stage] = NAN;
	for (int i = 0; i < BOARD_DIRECTIONS; i++) {
		ret = histogram_merge(&both, &d->duration[i][stage]);
		if (ret)
			goto out;
	}
	ret = top_histogram_since(&since, &both, seen);
	if (ret)
		goto out;
	if (since.nr) {
		row->mean_s[stage] = histogram_mean_s(&since);
		row->p99_s[stage] = histogram_quantile_s(&since, 0.99);
	}
	histogram_release(seen);
	*seen = both;
	histogram_init(&both);
out:
	histogram_release(&both);
	histogram_release(&since);
	return ret;
}

static int fill_times(struct top_row *row, struct seen_device *seen, const struct board_device *d)
{
	for (int stage = 0; stage < NR_STAGES; stage++) {
		int ret = fill_stage(row, &seen->stage[stage], d, stage);

		if (ret)
			return ret;
	}
	for (int i = 0; i < BOARD_DIRECTIONS; i++) {
		int ret = top_times_take(&row->times[i], &seen->total[i],
					 &d->duration[i][STAGE_TOTAL]);

		if (ret)
			return ret;
	}
	return 0;
}

static void fill_counts(struct top_row *row, struct seen_device *seen, const struct board_device *d,
			double duration_s)
{
	for (int i = 0; i < BOARD_DIRECTIONS; i++) {
		double nr = (double)(d->requests[i] - seen->requests[i]);
		double bytes = (double)(d->bytes[i] - seen->bytes[i]);

		row->per_s[i] = nr / duration_s;
		row->mib_per_s[i] = bytes / duration_s / 0x1p20;
		row->kib[i] = nr > 0 ? bytes / nr / 1024 : NAN;
		row->sequential_ratio[i] =
			nr > 0 && !d->is_counted
				? (double)(d->sequential[i] - seen->sequential[i]) / nr
				: NAN;
		seen->requests[i] = d->requests[i];
		seen->bytes[i] = d->bytes[i];
		seen->sequential[i] = d->sequential[i];
	}
	row->in_flight = (d->in_flight_s - seen->in_flight_s) / duration_s;
	row->clients = d->last.clients_mean;
	seen->in_flight_s = d->in_flight_s;
}

static uint64_t all_requests(const struct board_device *d)
{
	uint64_t sum = 0;

	for (int op = 0; op < NR_OPERATIONS; op++)
		sum += d->requests[op];
	return sum;
}

/* Adds a row for one device, or counts it as hidden. */
static int step_device(struct top_view *v, const struct board_device *d, double duration_s,
		       size_t *nr, size_t *nr_hidden)
{
	struct seen_device *seen = seen_of(v, d->device);
	struct top_row *row = &v->rows[*nr];
	bool is_idle;
	int ret;

	if (!seen)
		return -ENOMEM;
	is_idle = all_requests(d) == seen->all_requests;
	seen->all_requests = all_requests(d);
	memcpy(row->name, d->name, sizeof(row->name));
	fill_counts(row, seen, d, duration_s);
	ret = fill_times(row, seen, d);
	if (is_idle || d->is_hidden)
		(*nr_hidden)++;
	else
		(*nr)++;
	return ret;
}

bool top_view_is_due(const struct top_view *v, struct board *b, double interval_s)
{
	struct board_totals totals;
	size_t nr;

	board_lock(b, &nr, &totals);
	board_unlock(b);
	/*
	 * Windows are cut by a clock in nanoseconds, so n windows can be shorter than the interval
	 * by a rounding error.
	 */
	return totals.watched_s - v->watched_s >= interval_s * (1 - 1e-6);
}

/* Takes the sums by issuer since the last step. The board is locked. */
static int top_take_who(struct top_view *v, struct board *b, struct top_rest *rest)
{
	rest->processes = rest->cgroups = NULL;
	if (!board_wants_who(b))
		return 0;
	if (!v->processes.items && who_init(&v->processes, BOARD_WHO_MAX))
		return -ENOMEM;
	if (!v->cgroups.items && who_init(&v->cgroups, BOARD_WHO_MAX))
		return -ENOMEM;
	who_clear(&v->processes);
	who_clear(&v->cgroups);
	board_swap_who(b, &v->processes, &v->cgroups);
	rest->processes = &v->processes;
	rest->cgroups = &v->cgroups;
	return 0;
}

int top_view_step(struct top_view *v, struct board *b, const struct top_row **rows, size_t *nr,
		  struct top_rest *rest)
{
	struct board_totals totals;
	const struct board_device *devices;
	uint64_t lost_now = 0, untimed_now = 0;
	size_t nr_devices;
	double duration_s;
	int ret = 0;

	*nr = rest->nr_hidden = 0;
	devices = board_lock(b, &nr_devices, &totals);
	duration_s = totals.watched_s - v->watched_s;
	if (duration_s <= 0)
		duration_s = 1; /* no time has passed, so nothing was counted */
	v->watched_s = totals.watched_s;
	if (nr_devices > v->cap_rows) {
		struct top_row *more = realloc(v->rows, nr_devices * sizeof(*more));

		if (more) {
			v->rows = more;
			v->cap_rows = nr_devices;
		} else {
			ret = -ENOMEM;
		}
	}
	if (ret)
		goto out;
	for (size_t i = 0; i < nr_devices; i++) {
		ret = step_device(v, &devices[i], duration_s, nr, &rest->nr_hidden);
		if (ret)
			goto out;
	}
	ret = top_take_who(v, b, rest);
out:
	for (size_t i = 0; i < nr_devices; i++)
		untimed_now += devices[i].untimed;
	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		lost_now += totals.lost[i];
	board_unlock(b);
	if (!ret && rest->processes) {
		who_rank(&v->processes);
		who_rank(&v->cgroups);
	}
	rest->duration_s = duration_s;
	rest->source = totals.source;
	rest->lost = lost_now - v->lost;
	v->lost = lost_now;
	rest->untimed = untimed_now - v->untimed;
	v->untimed = untimed_now;
	*rows = v->rows;
	return ret;
}

void top_print_time(double seconds, struct buf *out)
{
	static const struct {
		double below_s, factor;
		const char *unit;
	} scales[] = {
		{ 1e-6, 1e9, "ns" }, { 1e-3, 1e6, "us" }, { 1, 1e3, "ms" }, { INFINITY, 1, "s" }
	};
	size_t i = 0;
	double value;

	if (isnan(seconds) || seconds == 0) {
		buf_printf(out, "%8s", seconds == 0 ? "0" : "-");
		return;
	}
	/* The value is rounded to three digits first, so that 999.6 us becomes 1.00 ms. */
	while (seconds >= scales[i].below_s * 0.9995)
		i++;
	value = seconds * scales[i].factor;
	buf_printf(out, "%6.*f%-2s",
		   value < 9.995   ? 2
		   : value < 99.95 ? 1
				   : 0,
		   value, scales[i].unit);
}

static void print_number(double value, int width, int digits, struct buf *out)
{
	if (isnan(value))
		buf_printf(out, " %*s", width, "-");
	else
		buf_printf(out, " %*.*f", width, digits, value);
}

static void print_percent(double ratio, struct buf *out)
{
	if (isnan(ratio))
		buf_printf(out, " %5s", "-");
	else
		buf_printf(out, " %4.0f%%", ratio * 100);
}

void top_print_titles(bool is_narrow, struct buf *out)
{
	if (is_narrow) {
		buf_printf(out, "%-10s %7s %7s %7s %7s %8s %8s %8s %7s\n", "Device", "r/s", "w/s",
			   "rMiB/s", "wMiB/s", "queue", "device", "d p99", "inflght");
		return;
	}
	buf_printf(out, "%-12s %8s %8s %8s %8s %7s %7s %8s %8s %8s %8s %7s %7s %5s %5s\n", "Device",
		   "r/s", "w/s", "rMiB/s", "wMiB/s", "rKiB", "wKiB", "queue", "q p99", "device",
		   "d p99", "inflght", "clients", "r seq", "w seq");
}

static void print_narrow(const struct top_row *row, struct buf *out)
{
	const double times_s[] = { row->mean_s[STAGE_QUEUE], row->mean_s[STAGE_DEVICE],
				   row->p99_s[STAGE_DEVICE] };

	buf_printf(out, "%-10.10s", row->name);
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		print_number(row->per_s[i], 7, row->per_s[i] < 100 ? 1 : 0, out);
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		print_number(row->mib_per_s[i], 7, row->mib_per_s[i] < 100 ? 2 : 0, out);
	for (size_t i = 0; i < sizeof(times_s) / sizeof(times_s[0]); i++) {
		buf_printf(out, " ");
		top_print_time(times_s[i], out);
	}
	print_number(row->in_flight, 7, 2, out);
	buf_printf(out, "\n");
}

void top_print_row(const struct top_row *row, bool is_narrow, struct buf *out)
{
	if (is_narrow) {
		print_narrow(row, out);
		return;
	}
	buf_printf(out, "%-12s", row->name);
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		print_number(row->per_s[i], 8, row->per_s[i] < 100 ? 1 : 0, out);
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		print_number(row->mib_per_s[i], 8, row->mib_per_s[i] < 100 ? 2 : 0, out);
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		print_number(row->kib[i], 7, 1, out);
	for (int stage = STAGE_QUEUE; stage <= STAGE_DEVICE; stage++) {
		buf_printf(out, " ");
		top_print_time(row->mean_s[stage], out);
		buf_printf(out, " ");
		top_print_time(row->p99_s[stage], out);
	}
	print_number(row->in_flight, 7, 2, out);
	print_number(row->clients, 7, 2, out);
	for (int i = 0; i < BOARD_DIRECTIONS; i++)
		print_percent(row->sequential_ratio[i], out);
	buf_printf(out, "\n");
}

void top_print_rest(const struct top_rest *rest, struct buf *out)
{
	if (rest->nr_hidden)
		buf_printf(out,
			   "# %zu not shown (idle, or loop, zram, partition): "
			   "a device that is named is shown\n",
			   rest->nr_hidden);
	if (rest->untimed)
		buf_printf(out, "# %llu requests without response time: their end was not seen\n",
			   (unsigned long long)rest->untimed);
}

/* Returns whether the output is a terminal that is too narrow for all columns. */
static bool is_narrow_terminal(FILE *out)
{
	struct winsize size;

	return isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col &&
	       size.ws_col < TOP_WIDE_COLUMNS;
}

/* Returns false where the view must end before the interval is over. */
static bool wait_for_interval(const struct top_config *config, const struct top_view *v)
{
	while (!top_view_is_due(v, config->board, (double)config->interval_ns / 1e9)) {
		if (config->is_over(config->ctx))
			return false;
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
	}
	return true;
}

static void print_stamp(struct buf *out, uint64_t interval_ns, const char *source)
{
	char text[40];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &tm);
	buf_printf(out, "# %s  source %s  window %g s\n", text, source, (double)interval_ns / 1e9);
}

static int print_interval(const struct top_config *config, struct top_view *v, uint64_t number,
			  FILE *out)
{
	const struct top_row *rows;
	bool is_narrow = is_narrow_terminal(out);
	struct top_rest rest;
	struct buf text;
	size_t nr;
	int ret = top_view_step(v, config->board, &rows, &nr, &rest);

	if (ret)
		return ret;
	buf_init(&text);
	print_stamp(&text, config->interval_ns, rest.source);
	if (number % TITLES_EVERY == 0)
		top_print_titles(is_narrow, &text);
	for (size_t i = 0; i < nr; i++)
		top_print_row(&rows[i], is_narrow, &text);
	top_print_rest(&rest, &text);
	if (rest.lost)
		buf_printf(&text, "# %llu requests lost\n", (unsigned long long)rest.lost);
	ret = text.error;
	if (ret)
		goto out;
	if (fwrite(text.data, 1, text.len, out) != text.len || fflush(out))
		ret = -errno;
out:
	buf_release(&text);
	return ret;
}

int top_run_rows(const struct top_config *config, FILE *out)
{
	struct top_view *v;
	int ret = top_view_new(&v);

	if (ret)
		return ret;
	for (uint64_t i = 0; (!config->count || i < config->count); i++) {
		if (!wait_for_interval(config, v))
			break;
		ret = print_interval(config, v, i, out);
		if (ret)
			goto out;
	}
out:
	top_view_free(v);
	return ret;
}

/*
 * Returns whether this process may change the settings of its terminal. A process in the background
 * that tries is stopped (SIGTTOU), also when it is continued, and a stopped agent loses requests
 * and cannot be ended by SIGINT. `timeout 3 blkcast-agent --top` under a shell is in the
 * background. Nobody is in the background of a terminal that controls no session, such as a
 * console's.
 */
static bool is_in_foreground(void)
{
	pid_t foreground = tcgetpgrp(STDOUT_FILENO);

	return foreground < 0 || foreground == getpgrp();
}

bool top_is_screen(uint64_t count)
{
	return !count && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && is_in_foreground();
}

int top_run(const struct top_config *config)
{
	if (top_is_screen(config->count))
		return top_run_screen(config);
	return top_run_rows(config, stdout);
}
