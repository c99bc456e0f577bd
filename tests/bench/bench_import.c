/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records per second of the importers, and of the whole way into a store, on one thread; beside it
 * a plain read of the same file, and what awk and blkparse take to read it.
 *
 * The input is made: the same requests in every format, 1 M of them; for blktrace and blkparse's
 * text 200 000 with six events each, each event a record. The fastest of three runs counts, in CPU
 * seconds of the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/exchange/import.h"
#include "formats/foreign/blktrace.h"
#include "tests/support/sample.h"

#define NR	  1000000u
#define NR_TRACED 200000u
#define REPEATS	  3
#define BATCH	  4096

static char folder[256];

static double cpu_s(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void figure(const char *name, const char *what, double value, const char *goal,
		   const char *note)
{
	printf("figure\timport %s: %s\t%.3g\tM records/s\t%s\t%s\n", name, what, value / 1e6, goal,
	       note);
	fflush(stdout);
}

static void put32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put64(uint8_t *at, uint64_t value)
{
	put32(at, (uint32_t)value);
	put32(at + 4, (uint32_t)(value >> 32));
}

/* Request i of the made trace: half of them go on where the last one of their stream ended. */
struct made {
	uint64_t us, sector;
	uint32_t bytes, device;
	bool read;
};

static struct made make_request(uint64_t i)
{
	uint64_t x = i * 0x9e3779b97f4a7c15ull;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	return (struct made){
		.us = i * 97 + (x >> 58),
		.sector = i & 1 ? (x >> 20 & 0xfffffff) * 8 : i * 8,
		.bytes = 4096u << (x >> 10 & 3),
		.device = (uint32_t)(x >> 40 & 7),
		.read = x & 3,
	};
}

static void print_vscsi(FILE *f, uint64_t i)
{
	struct made m = make_request(i);
	uint8_t r[32] = { 0 };

	put32(r + 4, m.bytes);
	r[12] = m.read ? 0x28 : 0x2a;
	r[15] = 1;
	put64(r + 16, m.sector);
	put64(r + 24, m.us);
	fwrite(r, sizeof(r), 1, f);
}

static void print_msr(FILE *f, uint64_t i)
{
	struct made m = make_request(i);

	fprintf(f, "%llu,usr,%u,%s,%llu,%u,%u\n",
		128166372003061629ull + (unsigned long long)m.us * 10, m.device,
		m.read ? "Read" : "Write", (unsigned long long)m.sector * 512, m.bytes,
		m.bytes / 3);
}

static void print_alibaba(FILE *f, uint64_t i)
{
	struct made m = make_request(i);

	fprintf(f, "%u,%c,%llu,%u,%llu\n", m.device, m.read ? 'R' : 'W',
		(unsigned long long)m.sector * 512, m.bytes,
		1577808000000000ull + (unsigned long long)m.us);
}

static void print_spc(FILE *f, uint64_t i)
{
	struct made m = make_request(i);

	fprintf(f, "%u,%llu,%u,%c,%llu.%06llu\n", m.device, (unsigned long long)m.sector, m.bytes,
		m.read ? 'R' : 'W', (unsigned long long)m.us / 1000000,
		(unsigned long long)m.us % 1000000);
}

/* The text that blkparse writes of the same six events. */
static void print_blkparse(FILE *f, uint64_t i)
{
	static const char letters[] = "QGPIDC";
	struct made m = make_request(i);
	static uint32_t sequence;

	for (unsigned int k = 0; k < 6; k++)
		fprintf(f, "  8,0    0 %8u %5llu.%09llu %5u  %c   %c %llu + %u [fio]\n", ++sequence,
			(unsigned long long)(m.us * 1000 + k * 5000) / 1000000000,
			(unsigned long long)(m.us * 1000 + k * 5000) % 1000000000, 100u, letters[k],
			m.read ? 'R' : 'W', (unsigned long long)m.sector, m.bytes / 512);
}

static void print_iolog(FILE *f, uint64_t i)
{
	struct made m = make_request(i);

	if (i == 0)
		fputs("fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n", f);
	fprintf(f, "%llu /dev/sda %s %llu %u\n", (unsigned long long)m.us,
		m.read ? "read" : "write", (unsigned long long)m.sector * 512, m.bytes);
}

static void print_event(FILE *f, uint32_t *sequence, uint64_t ns, const struct made *m,
			uint32_t action)
{
	uint8_t r[BLKTRACE_V7_BYTES] = { 0 };

	put32(r, 0x65617407);
	put32(r + 4, ++*sequence);
	put64(r + 8, ns);
	put64(r + 16, m->sector);
	put32(r + 24, m->bytes);
	put32(r + 28, action | (m->read ? 1u << 16 : 2u << 16));
	put32(r + 32, 100);
	put32(r + 36, 8u << 20);
	fwrite(r, sizeof(r), 1, f);
}

/* Q, G, P (plug), I, D, C of each, one request at a time. */
static void print_blktrace(FILE *f, uint64_t i)
{
	static const uint32_t actions[] = { 1 | 1 << 20, 3, 9, 6, 7 | 1 << 22, 8 | 1 << 23 };
	struct made m = make_request(i);
	static uint32_t sequence;

	for (unsigned int k = 0; k < 6; k++)
		print_event(f, &sequence, m.us * 1000 + k * 5000, &m, actions[k]);
}

static void make_file(const char *path, void (*print)(FILE *f, uint64_t i), uint64_t nr)
{
	FILE *f = fopen(path, "w");

	if (!f)
		abort();
	for (uint64_t i = 0; i < nr; i++)
		print(f, i);
	if (fclose(f))
		abort();
}

/* Seconds to decode every record; *records, *requests: how many. */
static double decode(const char *path, uint64_t *records, uint64_t *requests)
{
	struct request *batch = malloc(BATCH * sizeof(*batch));
	struct foreign_options options = { 0 };
	const struct foreign_format *format;
	struct foreign_input *in;
	double begin = cpu_s(RUSAGE_SELF);
	struct foreign *f;
	struct err err;
	int64_t nr;

	if (!batch || foreign_input_open(&in, path, &err) ||
	    foreign_detect(in, &options, &format, &err) || !format ||
	    foreign_open(&f, format, &options, &in, 1, &err))
		abort();
	*requests = 0;
	while ((nr = foreign_next(f, batch, BATCH, &err)) > 0)
		*requests += (uint64_t)nr;
	*records = f->nr_records;
	if (nr < 0 || f->skips.nr)
		abort();
	foreign_close(f);
	free(batch);
	return cpu_s(RUSAGE_SELF) - begin;
}

static double into_store(const char *path)
{
	struct import_options options = { .paths = &path, .nr_paths = 1 };
	struct import_result result;
	double begin = cpu_s(RUSAGE_SELF);
	char store[512];
	struct err err = { 0 };

	snprintf(store, sizeof(store), "%s/store", folder);
	if (import_run(&options, store, &result, &err)) {
		fprintf(stderr, "%s\n", err.line);
		abort();
	}
	import_result_release(&result);
	begin = cpu_s(RUSAGE_SELF) - begin;
	sample_remove(store);
	return begin;
}

/* Seconds that a command takes; NAN-free: 0 where it is not here. */
static double command_s(const char *command)
{
	double begin = cpu_s(RUSAGE_CHILDREN);

	return system(command) == 0 ? cpu_s(RUSAGE_CHILDREN) - begin : 0;
}

static double fastest(double (*run)(const char *path), const char *path)
{
	double best = 1e9;

	for (int i = 0; i < REPEATS; i++) {
		double s = run(path);

		best = s < best ? s : best;
	}
	return best;
}

static uint64_t nr_records, nr_requests;
static double decode_s(const char *path)
{
	return decode(path, &nr_records, &nr_requests);
}

static void measure(const char *name, const char *file, void (*print)(FILE *f, uint64_t i),
		    uint64_t nr, const char *peer, const char *goal)
{
	char path[512], command[1024];
	double s;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	make_file(path, print, nr);
	s = fastest(decode_s, path);
	figure(name, "decoded", (double)nr_records / s, goal, "requests ready, one thread");
	s = fastest(into_store, path);
	figure(name, "into a store", (double)nr_records / s, goal,
	       "merged, coded, checked, synced");
	snprintf(command, sizeof(command), "cat '%s' >/dev/null", path);
	s = fastest(command_s, command);
	if (s > 0)
		figure(name, "cat", (double)nr_records / s, "", "peer: a plain read");
	snprintf(command, sizeof(command), "cd '%s' && %s", folder, peer);
	s = fastest(command_s, command);
	if (s > 0)
		figure(name, "peer", (double)nr_records / s, "", peer);
	unlink(path);
}

int main(void)
{
	snprintf(folder, sizeof(folder), "%s", sample_folder());
	measure("blktrace", "made.blktrace.0", print_blktrace, NR_TRACED,
		"blkparse -q -i made -o made.txt >/dev/null 2>&1 && rm made.txt", "5");
	measure("blkparse text", "made.txt", print_blkparse, NR_TRACED,
		"awk '{ n[$6]++; b += $10; t = $4 } END { print b, t }' made.txt >/dev/null", "2");
	measure("fio iolog", "made.log", print_iolog, NR,
		"awk '{ n[$3]++; b += $5; t = $1 } END { print b, t }' made.log >/dev/null", "2");
	measure("vscsi", "made.vscsi", print_vscsi, NR, "cksum made.vscsi >/dev/null", "5");
	measure("msr", "made.msr", print_msr, NR,
		"awk -F, '{ n[$4]++; b += $6; t += $7 } END { print b, t }' made.msr >/dev/null",
		"2");
	measure("alibaba", "made.alibaba", print_alibaba, NR,
		"awk -F, '{ n[$2]++; b += $4; t = $5 } END { print b, t }' made.alibaba >/dev/null",
		"2");
	measure("spc", "made.spc", print_spc, NR,
		"awk -F, '{ n[$4]++; b += $3; t = $5 } END { print b, t }' made.spc >/dev/null",
		"2");
	sample_remove(folder);
	return 0;
}
