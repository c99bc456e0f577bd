/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/whatif/study/replay_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/answer/progress.h"
#include "analyzer/models/num/rng.h"
#include "base/text/units.h"

#define BUFFER_BYTES (1u << 20)

static int compare_parts(const void *a, const void *b)
{
	const struct replay_part *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Joins parts that touch or overlap each other. */
static void join_parts(struct replay_parts *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++) {
		const struct replay_part part = p->parts[i];

		if (nr && part.begin <= p->parts[nr - 1].end) {
			if (part.end > p->parts[nr - 1].end)
				p->parts[nr - 1].end = part.end;
		} else {
			p->parts[nr++] = part;
		}
	}
	p->nr = nr;
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + REPLAY_PIECE_BYTES - 1) / REPLAY_PIECE_BYTES * REPLAY_PIECE_BYTES;
}

static void add_requests(struct replay_parts *p, const struct causal_lane *lane)
{
	for (size_t i = 0; i < lane->nr; i++) {
		const struct causal_request *r = &lane->requests[i];

		if (!r->bytes)
			continue;
		p->parts[p->nr++] = (struct replay_part){
			.begin = r->offset / REPLAY_PIECE_BYTES * REPLAY_PIECE_BYTES,
			.end = round_up(r->offset + r->bytes),
		};
	}
}

int replay_parts_make(struct replay_parts *out, const struct causal_plan *plans, size_t nr)
{
	size_t room = 1; /* room of the whole range, or of each request */
	bool is_whole;

	*out = (struct replay_parts){ 0 };
	for (size_t i = 0; i < nr; i++)
		if (plans[i].end_bytes > out->end_bytes)
			out->end_bytes = plans[i].end_bytes;
	out->end_bytes = round_up(out->end_bytes);
	is_whole = out->end_bytes <= REPLAY_WHOLE_BYTES;
	for (size_t i = 0; i < nr && !is_whole; i++)
		for (size_t k = 0; k < plans[i].nr_lanes; k++)
			room += plans[i].lanes[k].nr;
	out->parts = calloc(room, sizeof(*out->parts));
	if (!out->parts)
		return -ENOMEM;
	if (is_whole) {
		out->nr = out->end_bytes > 0;
		out->parts[0] = (struct replay_part){ 0, out->end_bytes };
		out->bytes = out->end_bytes;
		return 0;
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < plans[i].nr_lanes; k++)
			add_requests(out, &plans[i].lanes[k]);
	qsort(out->parts, out->nr, sizeof(*out->parts), compare_parts);
	join_parts(out);
	for (size_t i = 0; i < out->nr; i++)
		out->bytes += out->parts[i].end - out->parts[i].begin;
	return 0;
}

void replay_parts_release(struct replay_parts *parts)
{
	free(parts->parts);
	*parts = (struct replay_parts){ 0 };
}

bool replay_parts_have_holes(const struct replay_parts *parts)
{
	return parts->bytes < parts->end_bytes;
}

/* This struct says what a file is filled with, and how far the filling is. */
struct replay_filling {
	int fd;
	uint64_t *random; /* BUFFER_BYTES */
	uint64_t done;	  /* bytes of all parts so far */
	struct progress progress;
	const volatile sig_atomic_t *stop;
};

static int fill_part(struct replay_filling *f, const struct replay_part *part)
{
	for (uint64_t at = part->begin; at < part->end;) {
		size_t left =
			part->end - at < BUFFER_BYTES ? (size_t)(part->end - at) : BUFFER_BYTES;
		ssize_t done = pwrite(f->fd, f->random, left, (off_t)at);

		if (f->stop && *f->stop)
			return -EINTR;
		if (done < 0 && errno != EINTR)
			return -errno;
		at += done > 0 ? (uint64_t)done : 0;
		f->done += done > 0 ? (uint64_t)done : 0;
		progress_update(&f->progress, f->done);
	}
	return 0;
}

static int fill_parts(int fd, const struct replay_parts *parts, const struct replay_write *how)
{
	struct replay_filling f = { .fd = fd, .stop = how->stop };
	struct rng rng;
	int ret = 0;

	if (parts->end_bytes > INT64_MAX) /* off_t ends there */
		return -EFBIG;
	f.random = malloc(BUFFER_BYTES);
	if (!f.random)
		return -ENOMEM;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < BUFFER_BYTES / sizeof(*f.random); i++)
		f.random[i] = rng_u64(&rng);
	progress_begin(&f.progress, "write files", parts->bytes, how->quiet);
	for (size_t i = 0; i < parts->nr && ret == 0; i++)
		ret = fill_part(&f, &parts->parts[i]);
	progress_end(&f.progress);
	free(f.random);
	if (ret == 0 && fsync(fd) < 0)
		ret = -errno;
	return ret;
}

int replay_file_write(const char *path, int flags, const struct replay_parts *parts,
		      const struct replay_write *how, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
	char reach[UNITS_BYTES];
	int ret;

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	ret = fill_parts(fd, parts, how);
	close(fd);
	if (ret && flags & O_EXCL)
		unlink(path);
	if (ret == -EFBIG)
		return err_set(
			err, EFBIG,
			"%s: the requests reach up to %s, and the file system takes no file of "
			"that size; name a device that is as large",
			path, units_bytes((double)parts->end_bytes, reach));
	return ret ? err_set(err, -ret, "%s: %s", path, strerror(-ret)) : 0;
}
