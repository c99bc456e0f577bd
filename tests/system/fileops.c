// SPDX-License-Identifier: Apache-2.0
/*
 * fileops: the file server and the mail server of Noorshams et al., Enriching Software
 * Architecture Models with Statistical Models for Performance Prediction in Modern Storage
 * Environments, 2014, section 5, as real processes: threads that repeat a sequence of file
 * operations with direct I/O, and the time each operation took.
 *
 *	fileops DIR file|mail CLIENTS SECONDS [FILES [READS [SEED]]]
 *
 * Where the environment names a file FILEOPS_GO, it makes DIR/ready once its files are there and
 * begins when that file is: two that are to meet on one storage begin together.
 *
 * Files: so many, 80 % of them there at the start, their sizes gamma distributed in blocks of 4
 * KiB. A file belongs to one thread from its open to its close. The first fifth of the time is
 * warm-up. READS is how often a read of the sequence is done. Printed: CSV, a line for each
 * operation with its count, mean time in seconds and mean bytes, in the order of the sequence,
 * and one for whole rounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/models/num/rng.h"

#define BLOCK	     4096u
#define MAX_FILE     (4u << 20)
#define MAX_CLIENTS  1000
#define PREALLOCATED 0.8
#define WARM_UP	     0.2
#define GAMMA_SHAPE  1.5 /* Filebench's */

enum op { CREATE, WRITE, APPEND, CLOSE, OPEN, READ, DELETE, STAT, NR_OPS };

static const char *const op_names[] = { "create", "write", "append", "close",
					"open",	  "read",  "delete", "stat" };

struct program {
	const char *name;
	const enum op *steps;
	size_t nr;
	double file_bytes, append_bytes; /* means */
};

static const enum op file_steps[] = { CREATE, WRITE, CLOSE, OPEN,   APPEND, CLOSE,
				      OPEN,   READ,  CLOSE, DELETE, STAT };
static const enum op mail_steps[] = { DELETE, CREATE, APPEND, CLOSE, OPEN, READ, CLOSE,
				      OPEN,   APPEND, CLOSE,  OPEN,  READ, CLOSE };

static const struct program programs[] = {
	{ "file", file_steps, sizeof(file_steps) / sizeof(*file_steps), 131072, 16384 },
	{ "mail", mail_steps, sizeof(mail_steps) / sizeof(*mail_steps), 16384, 16384 },
};

struct tally {
	double nr, time, bytes;
};

/* Numbers of files: idle ones that are there, and ones that are not. */
static struct {
	pthread_mutex_t lock;
	uint32_t *there, *gone;
	uint32_t nr_there, nr_gone;
} files = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct program *program;
static const char *directory;
static unsigned reads;
static _Atomic int stage; /* 0 warm-up, 1 measured, 2 over */

struct client {
	pthread_t thread;
	struct rng rng;
	char *buffer;
	uint32_t file; /* held */
	int fd;
	struct tally tallies[NR_OPS + 1]; /* the last: rounds */
};

static void die(const char *what)
{
	fprintf(stderr, "fileops: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t take(struct rng *r, uint32_t *list, uint32_t *nr)
{
	uint32_t i, file;

	pthread_mutex_lock(&files.lock);
	if (!*nr) {
		errno = ENOENT;
		die("too few files for so many clients");
	}
	i = (uint32_t)rng_below(r, *nr);
	file = list[i];
	list[i] = list[--*nr];
	pthread_mutex_unlock(&files.lock);
	return file;
}

static void give(uint32_t file, uint32_t *list, uint32_t *nr)
{
	pthread_mutex_lock(&files.lock);
	list[(*nr)++] = file;
	pthread_mutex_unlock(&files.lock);
}

static const char *path_of(uint32_t file, char path[4096])
{
	snprintf(path, 4096, "%s/%03u/%u", directory, file % 100, file);
	return path;
}

static size_t blocks(double bytes)
{
	size_t n = (size_t)(bytes / BLOCK + 0.5);

	n = n ? n : 1;
	return n * BLOCK > MAX_FILE ? MAX_FILE : n * BLOCK;
}

static size_t file_size(struct rng *r)
{
	return blocks(rng_gamma(r, GAMMA_SHAPE) / GAMMA_SHAPE * program->file_bytes);
}

/* 1 to 7 blocks, each as likely: 16 KiB in the mean. */
static size_t append_size(struct rng *r)
{
	uint64_t mean = (uint64_t)(program->append_bytes / BLOCK);

	return (1 + rng_below(r, 2 * mean - 1)) * BLOCK;
}

static size_t put(struct client *c, size_t bytes, off_t at)
{
	if (pwrite(c->fd, c->buffer, bytes, at) != (ssize_t)bytes)
		die("write");
	return bytes;
}

static void open_file(struct client *c, int flags)
{
	char path[4096];

	c->fd = open(path_of(c->file, path), flags | O_DIRECT, 0600);
	if (c->fd < 0)
		die("open");
}

static size_t append(struct client *c)
{
	struct stat s;

	if (fstat(c->fd, &s))
		die("fstat");
	return put(c, append_size(&c->rng), s.st_size);
}

static size_t read_whole(struct client *c)
{
	ssize_t got = pread(c->fd, c->buffer, MAX_FILE, 0);

	if (got <= 0)
		die("read");
	return (size_t)got;
}

static void delete_file(struct client *c)
{
	char path[4096];
	uint32_t file = take(&c->rng, files.there, &files.nr_there);

	if (unlink(path_of(file, path)))
		die("unlink");
	give(file, files.gone, &files.nr_gone);
}

static void stat_file(struct client *c)
{
	char path[4096];
	struct stat s;
	uint32_t file = take(&c->rng, files.there, &files.nr_there);

	if (stat(path_of(file, path), &s))
		die("stat");
	give(file, files.there, &files.nr_there);
}

/* One operation; its bytes. */
static size_t perform(struct client *c, enum op op)
{
	switch (op) {
	case CREATE:
		c->file = take(&c->rng, files.gone, &files.nr_gone);
		open_file(c, O_CREAT | O_EXCL | O_RDWR);
		return 0;
	case OPEN:
		c->file = take(&c->rng, files.there, &files.nr_there);
		open_file(c, O_RDWR);
		return 0;
	case CLOSE:
		close(c->fd);
		give(c->file, files.there, &files.nr_there);
		return 0;
	case WRITE:
		return put(c, file_size(&c->rng), 0);
	case APPEND:
		return append(c);
	case READ:
		return read_whole(c);
	case DELETE:
		delete_file(c);
		return 0;
	case STAT:
		stat_file(c);
		return 0;
	default:
		return 0;
	}
}

static void count(struct client *c, size_t what, double begin, double end, size_t bytes)
{
	if (stage != 1)
		return;
	c->tallies[what].nr++;
	c->tallies[what].time += end - begin;
	c->tallies[what].bytes += (double)bytes;
}

static void *run_client(void *arg)
{
	struct client *c = arg;

	while (stage < 2) {
		double round = now_s(), begin = round, end = round;

		for (size_t i = 0; i < program->nr; i++) {
			enum op op = program->steps[i];

			for (unsigned k = op == READ ? reads : 1; k; k--) {
				size_t bytes = perform(c, op);

				end = now_s();
				count(c, op, begin, end, bytes);
				begin = end;
			}
		}
		count(c, NR_OPS, round, end, 0);
	}
	return NULL;
}

static void *buffer(void)
{
	void *p;

	if (posix_memalign(&p, BLOCK, MAX_FILE))
		die("memory");
	memset(p, 0x5a, MAX_FILE);
	return p;
}

static void make_files(uint32_t nr, uint64_t seed)
{
	struct client c = { .buffer = buffer() };
	char path[4096];

	rng_seed(&c.rng, seed);
	files.there = calloc(nr, sizeof(uint32_t));
	files.gone = calloc(nr, sizeof(uint32_t));
	if (!files.there || !files.gone)
		die("memory");
	for (unsigned i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "%s/%03u", directory, i);
		if (mkdir(path, 0700) && errno != EEXIST)
			die(path);
	}
	for (uint32_t i = 0; i < nr; i++) {
		if (i >= PREALLOCATED * nr) {
			unlink(path_of(i, path));
			files.gone[files.nr_gone++] = i;
			continue;
		}
		c.file = i;
		open_file(&c, O_CREAT | O_TRUNC | O_RDWR);
		put(&c, file_size(&c.rng), 0);
		close(c.fd);
		files.there[files.nr_there++] = i;
	}
	sync();
	free(c.buffer);
}

static void pause_s(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Until the file FILEOPS_GO names is there. */
static void wait_for_others(void)
{
	const char *go = getenv("FILEOPS_GO");
	char path[4096];
	int fd;

	if (!go)
		return;
	snprintf(path, sizeof(path), "%s/ready", directory);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		die(path);
	close(fd);
	while (access(go, F_OK))
		pause_s(0.002);
}

static void report(const struct client *clients, unsigned nr)
{
	printf("operation,count,mean_s,mean_bytes\n");
	for (size_t op = 0; op <= NR_OPS; op++) {
		struct tally sum = { 0, 0, 0 };

		for (unsigned i = 0; i < nr; i++) {
			sum.nr += clients[i].tallies[op].nr;
			sum.time += clients[i].tallies[op].time;
			sum.bytes += clients[i].tallies[op].bytes;
		}
		if (sum.nr > 0)
			printf("%s,%.0f,%.9g,%.9g\n", op < NR_OPS ? op_names[op] : "round", sum.nr,
			       sum.time / sum.nr, sum.bytes / sum.nr);
	}
}

static void run(unsigned nr, double seconds, uint64_t seed)
{
	struct client *clients = calloc(nr, sizeof(*clients));

	if (!clients)
		die("memory");
	for (unsigned i = 0; i < nr; i++) {
		rng_stream(&clients[i].rng, seed, i + 1);
		clients[i].buffer = buffer();
		if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]))
			die("thread");
	}
	pause_s(WARM_UP * seconds);
	stage = 1;
	pause_s(seconds - WARM_UP * seconds);
	stage = 2;
	for (unsigned i = 0; i < nr; i++)
		pthread_join(clients[i].thread, NULL);
	report(clients, nr);
	for (unsigned i = 0; i < nr; i++)
		free(clients[i].buffer);
	free(clients);
}

int main(int argc, char **argv)
{
	double nr, seconds, nr_files;

	if (argc < 5 || argc > 8) {
		fprintf(stderr,
			"usage: fileops DIR file|mail CLIENTS SECONDS [FILES [READS [SEED]]]\n");
		return 2;
	}
	directory = argv[1];
	program = &programs[!strcmp(argv[2], "mail")];
	nr = strtod(argv[3], NULL);
	seconds = strtod(argv[4], NULL);
	nr_files = argc > 5 ? strtod(argv[5], NULL) : 1000;
	reads = argc > 6 ? (unsigned)strtoul(argv[6], NULL, 10) : 1;
	if (strcmp(argv[2], program->name) || !(nr >= 1 && nr <= MAX_CLIENTS) || !(seconds > 0) ||
	    !(nr_files >= 100 && nr_files <= 1e6) || !reads) {
		fprintf(stderr,
			"fileops: expected file or mail, 1 to %d clients, a time above 0, "
			"100 files or more\n",
			MAX_CLIENTS);
		return 2;
	}
	make_files((uint32_t)nr_files, argc > 7 ? strtoull(argv[7], NULL, 10) : 1);
	wait_for_others();
	run((unsigned)nr, seconds, argc > 7 ? strtoull(argv[7], NULL, 10) : 1);
	free(files.there);
	free(files.gone);
	return 0;
}
