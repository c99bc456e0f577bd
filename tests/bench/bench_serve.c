// SPDX-License-Identifier: Apache-2.0
/*
 * `serve` over loopback HTTP: segments acknowledged per second and how long an acknowledgement
 * takes, against what the disk itself gives in the same run for the same bytes: one at a time
 * appended and synced (the disk's own sync rate), and written, synced, renamed and the folder
 * synced by as many threads. CPU time is told apart from the senders', which run beside. The store
 * lies in the build folder, which should not be in a tmpfs.
 */
#include <curl/curl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/serve/http/server.h"
#include "tests/support/sample.h"

#define NR_REQUESTS 1500
#define MAX_WORKERS 128
#define RUN_NS	    2000000000ull
#define NR_MADE	    4096 /* segments made before the clock runs, of all workers together */

struct worker {
	unsigned int number;
	uint16_t port;
	const char *dir;
	uint64_t end_ns;
	uint64_t *took_ns; /* owned */
	size_t nr;
	struct buf *made; /* owned: its segments */
	size_t nr_made;
	double cpu_s; /* of its thread */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static double cpu_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(bool pass, const char *what)
{
	if (pass)
		return;
	perror(what);
	exit(1);
}

static void make_segment(const char *host, uint64_t sequence, struct buf *out)
{
	struct request r[NR_REQUESTS];
	struct sample s = {
		.host = host,
		.boot_id = "boot",
		.epoch = 1,
		.sequence = sequence,
		.real_offset_ns = SAMPLE_REAL_NS,
		.begin_ns = sequence * 1000000000,
		.end_ns = (sequence + 1) * 1000000000,
	};

	buf_clear(out);
	sample_requests(sequence, s.begin_ns, s.end_ns, r, NR_REQUESTS);
	sample_segment(&s, r, NR_REQUESTS, out);
}

struct upload {
	const struct buf *body;
	size_t at;
};

static size_t give(char *to, size_t size, size_t nr, void *ctx)
{
	struct upload *u = ctx;
	size_t left = u->body->len - u->at, room = size * nr < left ? size * nr : left;

	memcpy(to, u->body->data + u->at, room);
	u->at += room;
	return room;
}

static size_t ignore(char *from, size_t size, size_t nr, void *ctx)
{
	(void)from;
	(void)ctx;
	return size * nr;
}

static void put(CURL *curl, uint16_t port, const char *host, uint64_t sequence,
		const struct buf *body)
{
	struct upload u = { .body = body };
	struct segment_hash hash = segment_hash_of(body->data, body->len);
	char url[256], text[SEGMENT_HASH_TEXT], header[64];
	struct curl_slist *headers;
	long code = 0;

	segment_hash_text(&hash, text);
	snprintf(header, sizeof(header), "Blkcast-Hash: %s", text);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/segments/%s/boot/1/%" PRIu64, port, host,
		 sequence);
	headers = curl_slist_append(curl_slist_append(NULL, header), "Expect:");
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)body->len);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
	curl_easy_setopt(curl, CURLOPT_READDATA, &u);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
	must(curl_easy_perform(curl) == CURLE_OK, url);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
	must(code == 201, "201");
	curl_slist_free_all(headers);
}

static void *send_segments(void *ctx)
{
	struct worker *w = ctx;
	CURL *curl = curl_easy_init();
	char host[16];

	snprintf(host, sizeof(host), "h%u", w->number);
	for (uint64_t i = 0; now_ns() < w->end_ns && i < w->nr_made; i++) {
		uint64_t begin;

		begin = now_ns();
		put(curl, w->port, host, i, &w->made[i]);
		w->took_ns[w->nr++] = now_ns() - begin;
	}
	curl_easy_cleanup(curl);
	w->cpu_s = cpu_s(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* The disk's own sync rate: one file, appended to and synced. */
static void *append_file(void *ctx)
{
	struct worker *w = ctx;
	char path[384];
	int fd;

	snprintf(path, sizeof(path), "%s/append", w->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	must(fd >= 0, path);
	for (uint64_t i = 0; now_ns() < w->end_ns && i < w->nr_made; i++) {
		uint64_t begin = now_ns();

		must(write(fd, w->made[i].data, w->made[i].len) == (ssize_t)w->made[i].len &&
			     fdatasync(fd) == 0,
		     path);
		w->took_ns[w->nr++] = now_ns() - begin;
	}
	close(fd);
	unlink(path);
	return NULL;
}

/* The disk's own: no HTTP, no check, no catalog. */
static void *write_files(void *ctx)
{
	struct worker *w = ctx;
	char host[16], folder[320], temporary[384], path[384];
	int dir;

	snprintf(host, sizeof(host), "d%u", w->number);
	snprintf(folder, sizeof(folder), "%s/%s/x", w->dir, host);
	sample_write(folder, "", 0);
	snprintf(folder, sizeof(folder), "%s/%s", w->dir, host);
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	for (uint64_t i = 0; now_ns() < w->end_ns && i < w->nr_made; i++) {
		uint64_t begin;
		int fd;

		snprintf(temporary, sizeof(temporary), "%s/.tmp", folder);
		snprintf(path, sizeof(path), "%s/%" PRIu64, folder, i);
		begin = now_ns();
		fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		must(fd >= 0 &&
			     write(fd, w->made[i].data, w->made[i].len) ==
				     (ssize_t)w->made[i].len &&
			     fsync(fd) == 0 && close(fd) == 0 && rename(temporary, path) == 0 &&
			     fsync(dir) == 0,
		     path);
		w->took_ns[w->nr++] = now_ns() - begin;
	}
	close(dir);
	return NULL;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void figure(const char *what, unsigned int nr, const char *which, double value,
		   const char *unit, const char *note)
{
	printf("figure\t%s, %u at once, %s\t%.4g\t%s\t-\t%s\n", what, nr, which, value, unit, note);
}

/* The worker's segments, so that making them costs the run nothing. */
static void make_all(struct worker *w, unsigned int nr)
{
	char host[16];

	snprintf(host, sizeof(host), "h%u", w->number);
	w->nr_made = NR_MADE / nr;
	w->made = calloc(w->nr_made, sizeof(*w->made));
	w->took_ns = calloc(w->nr_made, sizeof(*w->took_ns));
	must(w->made && w->took_ns, "calloc");
	for (size_t i = 0; i < w->nr_made; i++)
		make_segment(host, i, &w->made[i]);
}

static void worker_release(struct worker *w)
{
	for (size_t i = 0; i < w->nr_made; i++)
		buf_release(&w->made[i]);
	free(w->made);
	free(w->took_ns);
}

/* Runs nr workers for RUN_NS; returns the rate. */
static double run(void *(*work)(void *), unsigned int nr, uint16_t port, const char *dir,
		  const char *what, const char *note)
{
	struct worker workers[MAX_WORKERS];
	pthread_t threads[MAX_WORKERS];
	uint64_t *all = calloc(NR_MADE, sizeof(*all)), begin;
	double rate, used_s, senders_s = 0;
	size_t sum = 0;

	for (unsigned int i = 0; i < nr; i++) {
		workers[i] = (struct worker){ .number = i, .port = port, .dir = dir };
		make_all(&workers[i], nr);
	}
	used_s = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
	begin = now_ns();
	for (unsigned int i = 0; i < nr; i++) {
		workers[i].end_ns = begin + RUN_NS;
		must(pthread_create(&threads[i], NULL, work, &workers[i]) == 0, "pthread_create");
	}
	for (unsigned int i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		for (size_t k = 0; k < workers[i].nr; k++)
			all[sum++] = workers[i].took_ns[k];
		senders_s += workers[i].cpu_s;
	}
	rate = (double)sum / ((double)(now_ns() - begin) / 1e9);
	used_s = cpu_s(CLOCK_PROCESS_CPUTIME_ID) - used_s;
	for (unsigned int i = 0; i < nr; i++)
		worker_release(&workers[i]);
	qsort(all, sum, sizeof(*all), compare_u64);
	figure(what, nr, "rate", rate, "segments/s", note);
	figure(what, nr, "p50", (double)all[sum / 2] / 1e6, "ms", note);
	figure(what, nr, "p99", (double)all[sum * 99 / 100] / 1e6, "ms", note);
	if (senders_s > 0) {
		figure(what, nr, "CPU", (used_s - senders_s) / (double)sum * 1e6, "us/segment",
		       "of serve");
		figure(what, nr, "CPU of senders", senders_s / (double)sum * 1e6, "us/segment",
		       "libcurl");
	}
	free(all);
	return rate;
}

static double peak_mib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (double)kib / 1024;
}

static void measure(unsigned int nr)
{
	struct server_config config = { .listen = "127.0.0.1:0", .nr_per_address = 256 };
	const char *dir = sample_folder();
	struct server *server = NULL;
	struct store *store = NULL;
	struct err err = { 0 };
	double disk, synced, served;

	must(store_open(&store, dir, true, &err) == 0, err.line);
	must(server_start(&server, store, &config, &err) == 0, err.line);
	synced = run(append_file, 1, 0, dir, "disk, append",
		     "write, fdatasync, one after the other");
	disk = run(write_files, nr, 0, dir, "disk", "write, fsync, rename, fsync folder");
	served = run(send_segments, nr, server_port(server), dir, "serve", "1500 requests, 14 KB");
	printf("figure\tserve against the disk's sync rate, %u at once\t%.3f\tratio\t-\tthe same run\n",
	       nr, served / synced);
	printf("figure\tserve against as many writers, %u at once\t%.3f\tratio\t-\tthe same run\n",
	       nr, served / disk);
	printf("figure\tpeak memory of serve and its senders, %u at once\t%.4g\tMiB\t-\tVmHWM of the process\n",
	       nr, peak_mib());
	server_stop(server);
	store_close(store);
	sample_remove(dir);
}

int main(void)
{
	const char *build = getenv("BUILD");

	setenv("TMPDIR", build ? build : "build", 1);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	measure(1);
	measure(4);
	measure(16);
	measure(64);
	measure(128);
	return 0;
}
