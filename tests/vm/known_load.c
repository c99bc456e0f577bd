/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_load DEVICE SEQUENTIAL RANDOM: a known load for tests of the sources, straight to a disk.
 *
 * Two processes at once, one request each under way. One reads SEQUENTIAL times 64 KiB, one after
 * the other from the start of the disk. The other does RANDOM requests in the second half, each at
 * the start of a slot of 64 KiB of its own: of ten, three are writes of 4 KiB, the reads are of 4
 * and 16 KiB in turn. No two of them touch, so that none of them is sequential and none can be
 * merged, whatever the timing. The last line is JSON: what was done, and the mean times seen here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOT 65536
#define STEP 97 /* slots from one random request to the next; no divisor of their number */

struct side {
	uint64_t nr, bytes;
	double busy_s;
};

struct done {
	struct side read, write;
	double begin_s, end_s;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int request(int fd, void *buf, size_t bytes, uint64_t offset, struct side *read_side,
		   struct side *write_side)
{
	double start = now_s();
	ssize_t got = write_side ? pwrite(fd, buf, bytes, (off_t)offset)
				 : pread(fd, buf, bytes, (off_t)offset);
	struct side *side = write_side ? write_side : read_side;

	if (got != (ssize_t)bytes) {
		fprintf(stderr, "known_load: %zu bytes at %llu: %s\n", bytes,
			(unsigned long long)offset, got < 0 ? strerror(errno) : "short");
		return -1;
	}
	side->busy_s += now_s() - start;
	side->nr++;
	side->bytes += bytes;
	return 0;
}

static int sequential(int fd, void *buf, uint64_t nr, struct done *done)
{
	int err = 0;

	for (uint64_t i = 0; i < nr && !err; i++)
		err = request(fd, buf, SLOT, i * SLOT, &done->read, NULL);
	return err;
}

static int scattered(int fd, void *buf, uint64_t nr, uint64_t slots, struct done *done)
{
	int err = 0;

	for (uint64_t i = 0; i < nr && !err; i++) {
		uint64_t offset = (slots + i * STEP % slots) * SLOT;
		uint64_t turn = i % 10;

		if (turn == 2 || turn == 5 || turn == 9)
			err = request(fd, buf, 4096, offset, NULL, &done->write);
		else
			err = request(fd, buf, i & 1 ? 16384 : 4096, offset, &done->read, NULL);
	}
	return err;
}

/* Runs as a process of its own: what it did is in *done, which is shared. */
static int worker(const char *path, int which, uint64_t nr, uint64_t slots, struct done *done)
{
	int fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	void *buf = NULL;
	int err;

	if (fd < 0 || posix_memalign(&buf, 4096, SLOT)) {
		perror(path);
		return 1;
	}
	memset(buf, 0x5a, SLOT);
	done->begin_s = now_s();
	err = which ? scattered(fd, buf, nr, slots, done) : sequential(fd, buf, nr, done);
	done->end_s = now_s();
	free(buf);
	close(fd);
	return err ? 1 : 0;
}

static void print(const struct done *d)
{
	struct side r = { d[0].read.nr + d[1].read.nr, d[0].read.bytes + d[1].read.bytes,
			  d[0].read.busy_s + d[1].read.busy_s };
	struct side w = d[1].write;
	double begin_s = d[0].begin_s < d[1].begin_s ? d[0].begin_s : d[1].begin_s;
	double end_s = d[0].end_s > d[1].end_s ? d[0].end_s : d[1].end_s;

	printf("{\"read\": %llu, \"write\": %llu, \"read_bytes\": %llu, \"write_bytes\": %llu, "
	       "\"read_mean_s\": %.9f, \"write_mean_s\": %.9f, \"sequential\": %llu, "
	       "\"random\": %llu, \"seconds\": %.6f}\n",
	       (unsigned long long)r.nr, (unsigned long long)w.nr, (unsigned long long)r.bytes,
	       (unsigned long long)w.bytes, r.busy_s / (double)(r.nr ? r.nr : 1),
	       w.busy_s / (double)(w.nr ? w.nr : 1), (unsigned long long)d[0].read.nr,
	       (unsigned long long)(d[1].read.nr + w.nr), end_s - begin_s);
}

/* Slots of the second half, or 0 with words: every request must find its own. */
static uint64_t half_of(const char *path, uint64_t nr)
{
	uint64_t bytes = 0, slots;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &bytes)) {
		perror(path);
		return 0;
	}
	close(fd);
	slots = bytes / SLOT / 2;
	if (slots < nr || slots % STEP == 0) {
		fprintf(stderr,
			"known_load: %s: %llu bytes, expected room for twice %llu slots of %d\n",
			path, (unsigned long long)bytes, (unsigned long long)nr, SLOT);
		return 0;
	}
	return slots;
}

int main(int argc, char **argv)
{
	uint64_t nr[2], slots;
	struct done *done;
	int failed = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: known_load DEVICE SEQUENTIAL RANDOM\n");
		return 2;
	}
	nr[0] = strtoull(argv[2], NULL, 10);
	nr[1] = strtoull(argv[3], NULL, 10);
	slots = half_of(argv[1], nr[0] > nr[1] ? nr[0] : nr[1]);
	if (!slots)
		return 2;
	done = mmap(NULL, 2 * sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (done == MAP_FAILED)
		return 1;
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			_exit(worker(argv[1], i, nr[i], slots, &done[i]));
	for (int i = 0; i < 2; i++) {
		int status;

		if (wait(&status) < 0 || status)
			failed = 1;
	}
	if (!failed)
		print(done);
	return failed;
}
