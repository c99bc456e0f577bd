/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of files for replays against a map of every piece, and what is in such a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/study/replay_files.h"
#include "tests/support/tap.h"

#define GIB    (1ull << 30)
#define NR     2000
#define PIECES 40000 /* of 64 KiB: 2.4 GiB */

static struct causal_request requests[2][NR];
static struct causal_lane lanes[2];
static struct causal_plan plans[2];
static const struct replay_write quietly = { .quiet = true };

static struct causal_request request_at(uint64_t offset, uint32_t bytes)
{
	return (struct causal_request){ .offset = offset, .bytes = bytes };
}

/* Makes a plan of one lane of its first nr requests. */
static void plan_of(size_t i, size_t nr)
{
	lanes[i] = (struct causal_lane){ .requests = requests[i], .nr = nr };
	plans[i] = (struct causal_plan){ .lanes = &lanes[i], .nr_lanes = 1, .nr = nr };
	for (size_t k = 0; k < nr; k++) {
		uint64_t end = requests[i][k].offset + requests[i][k].bytes;

		plans[i].end_bytes = end > plans[i].end_bytes ? end : plans[i].end_bytes;
	}
}

/* Marks the pieces that a plan's requests touch, one after the other. */
static void mark(bool *touched, const struct causal_plan *plan)
{
	for (size_t k = 0; k < plan->lanes[0].nr; k++) {
		const struct causal_request *r = &plan->lanes[0].requests[k];

		for (uint64_t at = r->offset; at < r->offset + r->bytes; at += 512)
			touched[at / REPLAY_PIECE_BYTES] = true;
	}
}

static void parts_are_what_is_touched(void)
{
	static bool touched[PIECES];
	struct replay_parts parts;
	struct rng rng;
	uint64_t nr_touched = 0, nr_written = 0;
	bool all = true, apart = true;

	rng_seed(&rng, 7);
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < NR; k++)
			requests[i][k] = request_at(rng_below(&rng, 2 * GIB / 512) * 512,
						    (uint32_t)rng_below(&rng, 512) * 512);
		plan_of(i, NR);
		mark(touched, &plans[i]);
	}
	ok_int(replay_parts_make(&parts, plans, 2), 0);
	for (size_t i = 0; i < parts.nr; i++) {
		const struct replay_part *p = &parts.parts[i];

		apart &= p->begin < p->end && (!i || parts.parts[i - 1].end < p->begin);
		for (uint64_t at = p->begin; at < p->end; at += REPLAY_PIECE_BYTES, nr_written++)
			all &= touched[at / REPLAY_PIECE_BYTES];
	}
	for (size_t i = 0; i < PIECES; i++)
		nr_touched += touched[i];
	ok(apart);
	ok(all);
	ok(nr_written == nr_touched);
	ok(parts.bytes == nr_written * REPLAY_PIECE_BYTES);
	ok(replay_parts_have_holes(&parts));
	replay_parts_release(&parts);
}

static void a_small_range_is_whole(void)
{
	struct replay_parts parts;

	requests[0][0] = request_at(0, 4096);
	requests[0][1] = request_at(GIB - 4096, 4096);
	plan_of(0, 2);
	ok_int(replay_parts_make(&parts, plans, 1), 0);
	ok(parts.nr == 1 && parts.bytes == GIB && !replay_parts_have_holes(&parts));
	replay_parts_release(&parts);
	requests[0][1] = request_at(GIB, 4096);
	plan_of(0, 2);
	ok_int(replay_parts_make(&parts, plans, 1), 0);
	ok(parts.nr == 2 && parts.bytes == 2 * REPLAY_PIECE_BYTES);
	ok(parts.end_bytes == GIB + REPLAY_PIECE_BYTES && replay_parts_have_holes(&parts));
	replay_parts_release(&parts);
}

/* Flushes alone touch nothing. */
static void nothing_is_no_part(void)
{
	struct replay_parts parts;

	requests[0][0] = request_at(0, 0);
	plan_of(0, 1);
	ok_int(replay_parts_make(&parts, plans, 1), 0);
	ok(parts.nr == 0 && parts.bytes == 0 && !replay_parts_have_holes(&parts));
	replay_parts_release(&parts);
}

/* Returns whether any byte of that piece of the file is not 0. */
static bool has_data(int fd, uint64_t at)
{
	static char piece[REPLAY_PIECE_BYTES], zero[REPLAY_PIECE_BYTES];

	return pread(fd, piece, sizeof(piece), (off_t)at) == (ssize_t)sizeof(piece) &&
	       memcmp(piece, zero, sizeof(piece)) != 0;
}

static void files_have_holes_between(void)
{
	char path[] = "/tmp/blkcast-replay-XXXXXX";
	struct replay_parts parts;
	struct err err = { 0 };
	struct stat st;
	int fd = mkstemp(path);

	requests[0][0] = request_at(3 * REPLAY_PIECE_BYTES, 4096);
	requests[0][1] = request_at(5 * GIB, 2 * REPLAY_PIECE_BYTES);
	plan_of(0, 2);
	ok_int(replay_parts_make(&parts, plans, 1), 0);
	ok_int(replay_file_write(path, O_CREAT | O_EXCL, &parts, &quietly, &err), -EEXIST);
	ok(access(path, F_OK) == 0);
	ok_int(replay_file_write(path, 0, &parts, &quietly, &err), 0);
	ok(fstat(fd, &st) == 0 && (uint64_t)st.st_size == 5 * GIB + 2 * REPLAY_PIECE_BYTES);
	ok(st.st_blocks * 512 < 1 << 20);
	ok(has_data(fd, 3 * REPLAY_PIECE_BYTES) && has_data(fd, 5 * GIB) &&
	   has_data(fd, 5 * GIB + REPLAY_PIECE_BYTES));
	ok(!has_data(fd, 2 * REPLAY_PIECE_BYTES) && !has_data(fd, GIB));
	replay_parts_release(&parts);
	close(fd);
	unlink(path);
}

static void what_is_interrupted_is_removed(void)
{
	static const volatile sig_atomic_t stop = 1;
	const struct replay_write stopped = { .quiet = true, .stop = &stop };
	char path[] = "/tmp/blkcast-replay-XXXXXX";
	struct replay_parts parts;
	struct err err = { 0 };

	close(mkstemp(path));
	unlink(path);
	requests[0][0] = request_at(0, 4096);
	plan_of(0, 1);
	ok_int(replay_parts_make(&parts, plans, 1), 0);
	ok_int(replay_file_write(path, O_CREAT | O_EXCL, &parts, &stopped, &err), -EINTR);
	ok(access(path, F_OK) < 0);
	ok_int(replay_file_write("/nowhere/file", O_CREAT | O_EXCL, &parts, &quietly, &err),
	       -ENOENT);
	ok_str(err.line, "/nowhere/file: No such file or directory");
	replay_parts_release(&parts);
}

static void no_file_is_that_long(void)
{
	char path[] = "/tmp/blkcast-replay-XXXXXX";
	struct replay_parts parts;
	struct err err = { 0 };

	close(mkstemp(path));
	unlink(path);
	requests[0][0] = request_at((1ull << 63) - 4096, 4096);
	plan_of(0, 1);
	ok_int(replay_parts_make(&parts, plans, 1), 0);
	ok_int(replay_file_write(path, O_CREAT | O_EXCL, &parts, &quietly, &err), -EFBIG);
	ok(strstr(err.line, ", and the file system takes no file of that size; name a device that "
			    "is as large") != NULL);
	ok(access(path, F_OK) < 0);
	replay_parts_release(&parts);
}

static const struct tap_test tests[] = {
	{ "parts are the pieces that requests touch", parts_are_what_is_touched },
	{ "a small range is written whole", a_small_range_is_whole },
	{ "flushes touch nothing", nothing_is_no_part },
	{ "a file has data where requests reach, and holes between", files_have_holes_between },
	{ "what is interrupted is removed", what_is_interrupted_is_removed },
	{ "a file that no file system takes is refused", no_file_is_that_long },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
