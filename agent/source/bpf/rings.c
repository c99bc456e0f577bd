/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/source/bpf/rings.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUND_UP_8(n) (((n) + 7) & ~(unsigned long)7)

struct mapped {
	struct ring_view view;
	void *reader, *writer; /* mapped pages; the second one and the data that follows it */
};

struct rings {
	struct mapped all[RINGS_MAX];
	size_t nr, page_bytes;
	int epoll_fd;
};

/* ---- one ring ---- */

/* A record that continues at the start of the data is copied into one piece first. */
static void hand_over(const struct ring_view *v, size_t at, size_t bytes, rings_record record,
		      void *ctx)
{
	unsigned char copy[RINGS_RECORD_MAX] __attribute__((aligned(8)));
	size_t first = v->bytes - at;

	if (bytes <= first) {
		record(ctx, v->data + at, bytes);
		return;
	}
	bytes = bytes < sizeof(copy) ? bytes : sizeof(copy);
	first = first < bytes ? first : bytes;
	memcpy(copy, v->data + at, first);
	memcpy(copy + first, v->data, bytes - first);
	record(ctx, copy, bytes);
}

/*
 * Reads records up to the position end, which the writer has reached. Returns the position of the
 * first incomplete record, or end.
 */
static unsigned long read_until(const struct ring_view *v, unsigned long pos, unsigned long end,
				rings_record record, void *ctx)
{
	unsigned long mask = v->bytes - 1;

	for (unsigned int nr = 1; pos != end; nr++) {
		const void *at = v->data + (pos & mask);
		uint32_t header = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
		uint32_t bytes = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (header & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			hand_over(v, (pos + BPF_RINGBUF_HDR_SZ) & mask, bytes, record, ctx);
		pos += BPF_RINGBUF_HDR_SZ + ROUND_UP_8((unsigned long)bytes);
		if (nr % RINGS_TELL_RECORDS == 0)
			__atomic_store_n(v->read, pos, __ATOMIC_RELEASE);
	}
	__atomic_store_n(v->read, pos, __ATOMIC_RELEASE);
	return pos;
}

void ring_view_read(const struct ring_view *v, rings_record record, void *ctx)
{
	unsigned long pos = *v->read, end;

	for (;;) {
		end = __atomic_load_n(v->written, __ATOMIC_ACQUIRE);
		if (pos == end)
			return;
		pos = read_until(v, pos, end, record, ctx);
		if (pos != end)
			return;
	}
}

/* ---- all of them ---- */

int rings_new(struct rings **out)
{
	struct rings *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0) {
		int ret = -errno;

		free(r);
		return ret;
	}
	*out = r;
	return 0;
}

static void rings_unmap(const struct rings *r, const struct mapped *m)
{
	if (m->reader != MAP_FAILED)
		munmap(m->reader, r->page_bytes);
	if (m->writer != MAP_FAILED)
		munmap(m->writer, r->page_bytes + m->view.bytes);
}

int rings_add(struct rings *r, int fd, size_t bytes)
{
	struct epoll_event event = { .events = EPOLLIN };
	size_t page = r->page_bytes;
	struct mapped m = { .view.bytes = bytes };
	int ret = 0;

	if (r->nr == RINGS_MAX)
		return -ENOSPC;
	m.reader = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	m.writer = mmap(NULL, page + bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (m.reader == MAP_FAILED || m.writer == MAP_FAILED ||
	    epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		ret = -errno;
	if (ret) {
		rings_unmap(r, &m);
		return ret;
	}
	m.view.read = m.reader;
	m.view.written = m.writer;
	m.view.data = (const unsigned char *)m.writer + page;
	r->all[r->nr++] = m;
	return 0;
}

int rings_fd(const struct rings *r)
{
	return r->epoll_fd;
}

void rings_read(struct rings *r, rings_record record, void *ctx)
{
	for (size_t i = 0; i < r->nr; i++)
		ring_view_read(&r->all[i].view, record, ctx);
}

void rings_free(struct rings *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr; i++)
		rings_unmap(r, &r->all[i]);
	close(r->epoll_fd);
	free(r);
}
