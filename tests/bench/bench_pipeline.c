/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole user space side at full speed: a synthetic source delivers random 4 KiB requests as
 * fast as they are taken, into windows and a store on /dev/shm. CPU per request in all, and where
 * it goes, by leaving parts out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/show/board.h"
#include "agent/capture/pipeline.h"
#include "agent/capture/reorder.h"
#include "agent/send/sender.h"
#include "agent/capture/stream.h"
#include "formats/segment/segment.h"
#include "tests/support/synthetic_source.h"
#include "workload/window.h"

#define NR_REQUESTS 6000000u
#define BATCH	    6000 /* of one poll at 300 000 per second */
#define NR_KEPT	    60000

static double cpu_s(int who)
{
	struct rusage use;

	getrusage(who, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static double rss_mib(void)
{
	double pages = 0, skipped;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lf %lf", &skipped, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (double)sysconf(_SC_PAGESIZE) / 0x1p20;
}

static void figure(const char *name, double value, const char *unit, const char *goal,
		   const char *note)
{
	printf("figure\t%s\t%.3g\t%s\t%s\t%s\n", name, value, unit, goal, note);
}

static void die(const char *what)
{
	fprintf(stderr, "bench_pipeline: %s\n", what);
	exit(1);
}

static void set_plan(uint64_t requests_per_s)
{
	synthetic_plan.device = device_make(7, 77);
	synthetic_plan.nr_devices = 1;
	synthetic_plan.batch = BATCH;
	synthetic_plan.latency_ns = 200000;
	synthetic_plan.requests_per_s = requests_per_s;
	synthetic_plan.limit = 0;
	synthetic_plan.begin_ns = stream_anchor().monotonic_ns;
	synthetic_plan.delivered = 0;
}

/* Runs the pipeline at a rate for some seconds; returns CPU ns per request of all threads. */
static double run(const char *dir, uint64_t requests_per_s, unsigned int seconds, double *rss,
		  double *cpu_share)
{
	uint32_t device = device_make(7, 77);
	char url[96];
	const char *urls[] = { url };
	struct sender_config sender = { .host = "bench", .boot_id = "bench", .urls = urls };
	struct pipeline_config config = { .source = &synthetic_source,
					  .window_ns = 1000000000u,
					  .segment_interval_ns = 5000000000u,
					  .heartbeat_ns = 60000000000u,
					  .has_trace = true,
					  .host = "bench",
					  .boot_id = "bench" };
	struct pipeline *pipeline;
	struct err err = { 0 };
	double before_s = cpu_s(RUSAGE_SELF), used_s;

	snprintf(url, sizeof(url), "file:%s", dir);
	sender.nr_urls = 1;
	sender.has_trace = true;
	config.source_config.devices = &device;
	config.source_config.nr_devices = 1;
	set_plan(requests_per_s);
	if (board_new(&config.board) || sender_new(&config.sender, &sender, &err) ||
	    pipeline_start(&pipeline, &config, &err))
		die(err.line);
	sleep(seconds);
	*rss = rss_mib();
	pipeline_stop(pipeline);
	sender_free(config.sender, 1);
	board_free(config.board);
	used_s = cpu_s(RUSAGE_SELF) - before_s;
	*cpu_share = used_s / seconds;
	return used_s * 1e9 / (double)synthetic_plan.delivered;
}

/* The stages on their own, over the same requests. */
struct kept {
	struct request r[NR_KEPT];
	size_t nr;
};

static void keep(void *ctx, const struct request *r)
{
	struct kept *k = ctx;

	if (k->nr < NR_KEPT)
		k->r[k->nr++] = *r;
}

static void drop(void *ctx, struct request *r, size_t nr)
{
	*(uint64_t *)ctx += nr + r->queue_depth;
}

static double source_ns(struct kept *kept)
{
	struct source_sink sink = { .request = keep, .ctx = kept };
	struct source_config config = { 0 };
	struct source *source;
	double begin_s;

	set_plan(0);
	if (synthetic_source.open(&source, &config, NULL))
		die("no memory");
	begin_s = cpu_s(RUSAGE_SELF);
	while (synthetic_plan.delivered < NR_REQUESTS)
		synthetic_source.poll(source, &sink);
	begin_s = cpu_s(RUSAGE_SELF) - begin_s;
	synthetic_source.close(source, NULL);
	return begin_s * 1e9 / NR_REQUESTS;
}

static double reorder_ns(const struct kept *kept)
{
	uint64_t sum = 0;
	struct reorder_sink sink = { drop, &sum };
	struct reorder *reorder;
	double begin_s;

	if (reorder_new(&reorder, REORDER_MAX_HELD, &sink))
		die("no memory");
	begin_s = cpu_s(RUSAGE_SELF);
	for (int turn = 0; turn < 50; turn++) {
		for (size_t i = 0; i < NR_KEPT; i++)
			reorder_add(reorder, &kept->r[i]);
		reorder_flush(reorder, UINT64_MAX);
	}
	begin_s = cpu_s(RUSAGE_SELF) - begin_s;
	reorder_free(reorder);
	if (!sum)
		die("nothing released");
	return begin_s * 1e9 / (50.0 * NR_KEPT);
}

static double window_ns(const struct kept *kept)
{
	struct window_config config = { 0 };
	struct window *window;
	double begin_s;

	if (window_new(&window, &config, kept->r[0].arrival_ns))
		die("no memory");
	begin_s = cpu_s(RUSAGE_SELF);
	for (int turn = 0; turn < 50; turn++) {
		for (size_t i = 0; i + 256 <= NR_KEPT; i += 256)
			window_add_many(window, kept->r + i, 256);
		window_clear(window, kept->r[0].arrival_ns);
	}
	begin_s = cpu_s(RUSAGE_SELF) - begin_s;
	window_free(window);
	return begin_s * 1e9 / (50.0 * NR_KEPT);
}

static double codec_ns(const struct kept *kept)
{
	struct segment_header header = { .host = "bench", .boot_id = "bench" };
	struct segment_writer *writer;
	struct buf out;
	double begin_s;

	buf_init(&out);
	if (segment_writer_new(&writer))
		die("no memory");
	begin_s = cpu_s(RUSAGE_SELF);
	for (int turn = 0; turn < 20; turn++) {
		for (size_t i = 0; i < NR_KEPT; i++)
			segment_writer_add(writer, &kept->r[i]);
		buf_clear(&out);
		if (segment_writer_finish(writer, &header, &out))
			die("segment not coded");
	}
	begin_s = cpu_s(RUSAGE_SELF) - begin_s;
	segment_writer_free(writer);
	buf_release(&out);
	return begin_s * 1e9 / (20.0 * NR_KEPT);
}

static int by_arrival(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	return x->arrival_ns < y->arrival_ns ? -1 : x->arrival_ns > y->arrival_ns;
}

int main(void)
{
	static struct kept kept;
	char dir[] = "/dev/shm/blkcast-bench.XXXXXX", command[96];
	double rss, share, source, total;

	if (!mkdtemp(dir))
		die("cannot make a folder in /dev/shm");
	/* At rate first: its RSS is the process's, before the stages of the benchmark add to it. */
	total = run(dir, 300000, 8, &rss, &share);
	figure("pipeline_rss_at_300k_iops", rss, "MiB", "<= 24", "one device, store on disk");
	figure("pipeline_cpu_at_300k_iops", share * 100, "% of a CPU", "",
	       "synthetic source included");
	figure("pipeline_cpu_per_request_at_300k_iops", total, "ns", "<= 300",
	       "all threads, synthetic source included");
	source = source_ns(&kept);
	figure("synthetic_source_per_request", source, "ns", "", "stands for decoding a ring");
	figure("reorder_per_request", reorder_ns(&kept), "ns", "", "copy in, two sorts, copy out");
	qsort(kept.r, NR_KEPT, sizeof(kept.r[0]), by_arrival);
	figure("window_per_request", window_ns(&kept), "ns", "~80", "all estimators");
	figure("segment_per_request", codec_ns(&kept), "ns", "~80", "columns and zstd");
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command) ? 1 : 0;
}
