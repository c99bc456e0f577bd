// SPDX-License-Identifier: Apache-2.0
/*
 * filebench and ffsb: these drivers run the plan's workload file and read what the programs print.
 * Neither program prints results per interval.
 *
 * Both programs take their times from the workload file, in which {runtime} and {warm_up} stand for
 * the times of the campaign.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/measure/driver.h"

#define MB 1048576.0

static int filebench_run(const struct drive *d, struct buf *shell, struct err *err)
{
	int ret = driver_put_file(d, "load.f", d->load->job, shell, err);

	buf_printf(shell, "exec filebench -f load.f\n");
	return ret ? ret : shell->error;
}

struct bench_metric {
	const char *who, *what;
	double value;
};

static int driver_bench_put(struct readings *r, const struct bench_metric *all, size_t nr)
{
	char name[2 * READING_NAME_BYTES];
	int ret;

	for (size_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s_%s", all[i].who, all[i].what);
		ret = readings_put(r, 0, name, all[i].value);
		if (ret)
			return ret;
	}
	return 0;
}

/* Reads "readfile1   9787ops   163ops/s  10.0mb/s   0.043ms/op [0.00ms - 0.88ms]". */
static int take_flowop(const char *line, struct readings *r)
{
	char name[32];
	double ops, rate, mb, ms;

	if (sscanf(line, "%31s %lfops %lfops/s %lfmb/s %lfms/op", name, &ops, &rate, &mb, &ms) != 5)
		return 0;
	return driver_bench_put(r,
				(struct bench_metric[]){ { name, "s", ms / 1e3 },
							 { name, "per_s", rate },
							 { name, "bytes_per_s", mb * MB } },
				3);
}

/* Reads the line "IO Summary: 303389 ops 5055.849 ops/s 1631/163 rd/wr 100.7mb/s 0.012ms/op". */
static int take_summary(const char *line, struct readings *r, bool *found)
{
	const char *at = strstr(line, "IO Summary:");
	double ops, rate, reads, writes, mb, ms;

	if (!at || sscanf(at, "IO Summary: %lf ops %lf ops/s %lf/%lf rd/wr %lfmb/s %lfms/op", &ops,
			  &rate, &reads, &writes, &mb, &ms) != 6)
		return 0;
	*found = true;
	return driver_bench_put(r,
				(struct bench_metric[]){ { "operation", "per_s", rate },
							 { "read", "per_s", reads },
							 { "write", "per_s", writes },
							 { "operation", "bytes_per_s", mb * MB },
							 { "operation", "s", ms / 1e3 } },
				5);
}

/*
 * Reads a line such as "readall :  11698  843.15  15.010%  10.380%  3.29MB/sec"; NA may stand in
 * place of the throughput.
 */
static int take_transaction(const char *line, struct readings *r)
{
	char name[32], unit = 0;
	double count, rate, amount = 0;
	int nr = sscanf(line, " %31s : %lf %lf %*f%% %*f%% %lf%cB/sec", name, &count, &rate,
			&amount, &unit);

	if (nr < 3)
		return 0;
	amount *= unit == 'G' ? MB * 1024 : unit == 'M' ? MB : 1024;
	return driver_bench_put(r,
				(struct bench_metric[]){ { name, "per_s", rate },
							 { name, "bytes_per_s", amount } },
				nr == 5 ? 2 : 1);
}

/* Reads "[   read]  0.003000  0.005743  5.221000  11698"; the times are in milliseconds. */
static int take_call(const char *line, struct readings *r, bool *found)
{
	char name[32];
	double least, mean, most, count;

	if (sscanf(line, "[ %31[a-z0-9]] %lf %lf %lf %lf", name, &least, &mean, &most, &count) != 5)
		return 0;
	*found = true;
	return driver_bench_put(r,
				(struct bench_metric[]){ { name, "s", mean / 1e3 },
							 { name, "requests", count } },
				2);
}

static int take_lines(const char *text, size_t len, bool ffsb, struct readings *r, struct err *err)
{
	bool found = false;
	int ret = 0;

	for (const char *at = text, *end = text + len; at < end;) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		size_t nr = (size_t)((eol ? eol : end) - at);
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)(nr < 511 ? nr : 511), at);
		at += nr + 1;
		if (ffsb)
			ret = take_transaction(line, r);
		else
			ret = take_summary(line, r, &found);
		if (ret)
			return ret;
		ret = ffsb ? take_call(line, r, &found) : take_flowop(line, r);
		if (ret)
			return ret;
	}
	if (!found)
		ret = err_set(err, EINVAL,
			      ffsb ? "ffsb: expected latency statistics, got '%.60s'"
				   : "filebench: expected an IO Summary, got '%.60s'",
			      len ? text : "");
	return ret;
}

static int filebench_take(const struct drive *d, const char *text, size_t len, bool final,
			  struct readings *r, struct err *err)
{
	(void)d;
	return final ? take_lines(text, len, false, r, err) : 0;
}

static int ffsb_run(const struct drive *d, struct buf *shell, struct err *err)
{
	int ret = driver_put_file(d, "load.ffsb", d->load->job, shell, err);

	buf_printf(shell, "exec ffsb load.ffsb\n");
	return ret ? ret : shell->error;
}

static int ffsb_take(const struct drive *d, const char *text, size_t len, bool final,
		     struct readings *r, struct err *err)
{
	(void)d;
	return final ? take_lines(text, len, true, r, err) : 0;
}

const struct driver driver_filebench = {
	.name = "filebench",
	.program = "filebench",
	.needs_job = true,
	.run = filebench_run,
	.take = filebench_take,
};

const struct driver driver_ffsb = {
	.name = "ffsb",
	.program = "ffsb",
	.needs_job = true,
	.run = ffsb_run,
	.take = ffsb_take,
};
