/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/source/tracefs/trace_cpus.h"
#include "agent/source/tracefs/tracefs.h"
#include "base/memory/array.h"
#include "base/memory/buf.h"

#define CPUS_MAX    1024
#define ROUND_PAGES 64 /* pages of one CPU that are read before the other CPUs have their turn */

struct cpu {
	uint32_t number;
	int fd;
	struct block_event *events; /* owned; decoded; those in [at, nr) are not handed over yet */
	size_t at, nr, cap;
	uint64_t last_ns; /* time of the newest event that was read */
	bool is_drained;
	uint64_t dropped; /* lost events according to the CPU's stats file */
};

struct trace_cpus {
	struct cpu *cpus; /* owned */
	size_t nr_cpus;
	int instance_fd, epoll_fd;
	const struct trace_page_layout *layout;
	const struct trace_block *formats;
	uint8_t *page; /* owned; layout->page_bytes */
	struct buf text;
};

/* Returns the CPU whose next event is the oldest, or NULL where no CPU has an event. */
static struct cpu *trace_cpus_oldest(const struct trace_cpus *t)
{
	struct cpu *first = NULL;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		struct cpu *c = &t->cpus[i];

		if (c->at < c->nr &&
		    (!first || c->events[c->at].time_ns < first->events[first->at].time_ns))
			first = c;
	}
	return first;
}

/* Returns the time of the oldest event of all CPUs but this one. */
static uint64_t oldest_but(const struct trace_cpus *t, const struct cpu *but)
{
	uint64_t ns = UINT64_MAX;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		const struct cpu *c = &t->cpus[i];

		if (c != but && c->at < c->nr && c->events[c->at].time_ns < ns)
			ns = c->events[c->at].time_ns;
	}
	return ns;
}

/*
 * Hands over all events up to this time, oldest first. Consecutive events of one CPU are handed
 * over as one run.
 */
static void trace_cpus_merge(struct trace_cpus *t, uint64_t until_ns,
			     const struct trace_cpus_sink *sink)
{
	struct cpu *c;

	while ((c = trace_cpus_oldest(t)) && c->events[c->at].time_ns <= until_ns) {
		uint64_t others_ns = oldest_but(t, c);
		uint64_t run_ns = others_ns < until_ns ? others_ns : until_ns;

		while (c->at < c->nr && c->events[c->at].time_ns <= run_ns)
			sink->event(sink->ctx, &c->events[c->at++]);
	}
	for (size_t i = 0; i < t->nr_cpus; i++) {
		c = &t->cpus[i];
		if (!c->at)
			continue; /* A processor without any event has no array either. */
		memmove(c->events, c->events + c->at, (c->nr - c->at) * sizeof(*c->events));
		c->nr -= c->at;
		c->at = 0;
	}
}

/* ---- pages to events ---- */

static struct block_event *event_room(struct cpu *c)
{
	if (array_grow(&c->events, &c->cap, c->nr + 1, sizeof(*c->events)))
		return NULL;
	return &c->events[c->nr];
}

static void page_decode(struct trace_cpus *t, struct cpu *c, size_t bytes,
			const struct trace_cpus_sink *sink)
{
	struct trace_record r;
	struct trace_page page;
	char comm[TRACE_COMM_BYTES];
	int ret = trace_page_open(&page, t->layout, t->page, bytes);

	while (!ret && (ret = trace_page_next(&page, &r)) == 1) {
		struct block_event *e = event_room(c);

		if (!e) {
			sink->lost(sink->ctx, LOSS_REORDER, 1);
			return;
		}
		ret = trace_block_decode(t->formats, &r, e, comm);
		if (ret < 0)
			sink->lost(sink->ctx, LOSS_DECODE, 1);
		c->last_ns = r.time_ns;
		if (ret == 1) {
			e->cpu = c->number;
			sink->decoded(sink->ctx, e, comm);
			c->nr++;
		}
		ret = 0;
	}
	if (ret < 0)
		sink->lost(sink->ctx, LOSS_DECODE, 1);
}

/*
 * Reads pages of one CPU until there are no more, or they are newer than until_ns, or ROUND_PAGES
 * were read.
 */
static int cpu_read(struct trace_cpus *t, struct cpu *c, uint64_t until_ns,
		    const struct trace_cpus_sink *sink)
{
	for (int i = 0; i < ROUND_PAGES; i++) {
		ssize_t nr = read(c->fd, t->page, t->layout->page_bytes);

		if (nr < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (nr > 0)
			page_decode(t, c, (size_t)nr, sink);
		if (nr <= 0 || c->last_ns > until_ns) {
			c->is_drained = true;
			return 0;
		}
	}
	return 0;
}

int trace_cpus_take(struct trace_cpus *t, uint64_t until_ns, const struct trace_cpus_sink *sink)
{
	bool is_done = false;

	for (size_t i = 0; i < t->nr_cpus; i++)
		t->cpus[i].is_drained = false;
	while (!is_done) {
		uint64_t come_ns = until_ns;

		is_done = true;
		for (size_t i = 0; i < t->nr_cpus; i++) {
			struct cpu *c = &t->cpus[i];
			int ret = c->is_drained ? 0 : cpu_read(t, c, until_ns, sink);

			if (ret)
				return ret;
			if (!c->is_drained) {
				is_done = false;
				come_ns = c->last_ns < come_ns ? c->last_ns : come_ns;
			}
		}
		trace_cpus_merge(t, come_ns, sink);
	}
	return 0;
}

/* ---- losses ---- */

static uint64_t stat_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Returns the number of events since the last look that the kernel dropped or overwrote. */
static uint64_t dropped_since(struct trace_cpus *t, struct cpu *c)
{
	char path[48];
	const char *text;
	uint64_t all, since;

	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", c->number);
	if (tracefs_read(t->instance_fd, path, &t->text))
		return 0;
	text = (const char *)t->text.data;
	all = stat_of(text, "\noverrun: ") + stat_of(text, "\ncommit overrun: ") +
	      stat_of(text, "\ndropped events: ");
	since = all > c->dropped ? all - c->dropped : 0;
	c->dropped = all;
	return since;
}

uint64_t trace_cpus_dropped(struct trace_cpus *t)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < t->nr_cpus; i++)
		dropped += dropped_since(t, &t->cpus[i]);
	return dropped;
}

/* ---- opening ---- */

static int cpu_open(struct trace_cpus *t, uint32_t number, struct err *err)
{
	struct epoll_event wake = { .events = EPOLLIN };
	struct cpu *more = realloc(t->cpus, (t->nr_cpus + 1) * sizeof(*more));
	char path[64];
	int fd;

	if (!more)
		return err_set(err, ENOMEM, "tracefs: out of memory");
	t->cpus = more;
	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", number);
	fd = openat(t->instance_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "tracefs: %s: %s", path, strerror(errno));
	t->cpus[t->nr_cpus++] = (struct cpu){ .number = number, .fd = fd };
	epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &wake);
	return 0;
}

/* Opens the buffers of all CPUs. CPUs that may come online later have a folder too. */
static int cpus_open(struct trace_cpus *t, struct err *err)
{
	int fd = openat(t->instance_fd, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	unsigned int number;

	if (!dir) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return err_set(err, -ret, "tracefs: per_cpu: %s", strerror(-ret));
	}
	while ((entry = readdir(dir)) && t->nr_cpus < CPUS_MAX) {
		if (sscanf(entry->d_name, "cpu%u", &number) != 1)
			continue;
		ret = cpu_open(t, number, err);
		if (ret)
			break;
	}
	closedir(dir);
	if (ret)
		return ret;
	if (!t->nr_cpus)
		ret = err_set(err, ENODATA, "tracefs: per_cpu: expected a folder for each CPU");
	return ret;
}

int trace_cpus_open(struct trace_cpus **out, int instance_fd,
		    const struct trace_page_layout *layout, const struct trace_block *formats,
		    struct err *err)
{
	struct trace_cpus *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return err_set(err, ENOMEM, "tracefs: out of memory");
	t->instance_fd = instance_fd;
	t->layout = layout;
	t->formats = formats;
	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	t->page = malloc(layout->page_bytes);
	ret = t->page ? cpus_open(t, err) : err_set(err, ENOMEM, "tracefs: out of memory");
	if (ret) {
		trace_cpus_close(t);
		return ret;
	}
	*out = t;
	return 0;
}

void trace_cpus_close(struct trace_cpus *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_cpus; i++) {
		close(t->cpus[i].fd);
		free(t->cpus[i].events);
	}
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	buf_release(&t->text);
	free(t->cpus);
	free(t->page);
	free(t);
}

int trace_cpus_fd(const struct trace_cpus *t)
{
	return t->epoll_fd;
}
