/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/source/bpf/rings.h"
#include "tests/support/tap.h"

#define RING_BYTES 4096u
#define NR_RECORDS 20000u
#define MOST_BYTES RINGS_RECORD_MAX

/* A ring as the kernel writes it: the writer's side is ours. */
struct fake {
	struct ring_view view;
	unsigned char *data;
	unsigned long written, read;
	uint64_t nr_read, sum_read, bad;
};

static void fake_init(struct fake *f)
{
	*f = (struct fake){ .data = aligned_alloc(8, RING_BYTES) };
	memset(f->data, 0xff, RING_BYTES);
	f->view = (struct ring_view){ f->data, RING_BYTES, &f->written, &f->read };
}

static uint32_t *header_at(struct fake *f, unsigned long pos)
{
	return (uint32_t *)(void *)(f->data + pos % RING_BYTES);
}

/* False where it has no room. All of its bytes have this value. */
static bool fake_write(struct fake *f, uint32_t bytes, uint32_t bits, unsigned char value)
{
	unsigned long whole = BPF_RINGBUF_HDR_SZ + ((bytes + 7u) & ~7u);

	if (f->written + whole - f->read > RING_BYTES)
		return false;
	*header_at(f, f->written) = bytes | bits;
	for (uint32_t i = 0; i < bytes; i++)
		f->data[(f->written + BPF_RINGBUF_HDR_SZ + i) % RING_BYTES] = value;
	f->written += whole;
	return true;
}

static void take(void *ctx, const void *data, size_t bytes)
{
	struct fake *f = ctx;
	const unsigned char *at = data;

	f->bad += (uintptr_t)data % 8 != 0;
	for (size_t i = 1; i < bytes; i++)
		f->bad += at[i] != at[0];
	f->nr_read++;
	f->sum_read = f->sum_read * 31 + at[0] * 1000 + bytes;
}

static void all_lengths_come_whole_and_in_order(void)
{
	uint64_t nr = 0, sum = 0, state = 1;
	struct fake f;

	fake_init(&f);
	for (unsigned int i = 0; i < NR_RECORDS; i++) {
		uint32_t bytes, bits;

		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes = 1 + (uint32_t)(state >> 33) % MOST_BYTES;
		bits = (state >> 60) == 0 ? BPF_RINGBUF_DISCARD_BIT : 0;
		while (!fake_write(&f, bytes, bits, (unsigned char)i)) {
			ring_view_read(&f.view, take, &f);
			if (f.read != f.written)
				break;
		}
		if (bits)
			continue;
		nr++;
		sum = sum * 31 + (unsigned char)i * 1000 + bytes;
	}
	ring_view_read(&f.view, take, &f);
	ok_eq(f.nr_read, nr);
	ok_eq(f.sum_read, sum);
	ok_eq(f.bad, 0);
	ok_eq(f.read, f.written);
	free(f.data);
}

static void one_that_is_being_written_is_waited_for(void)
{
	unsigned long second;
	struct fake f;

	fake_init(&f);
	fake_write(&f, 72, 0, 1);
	second = f.written;
	fake_write(&f, 72, BPF_RINGBUF_BUSY_BIT, 2);
	fake_write(&f, 72, 0, 3);
	ring_view_read(&f.view, take, &f);
	ok_eq(f.nr_read, 1);
	ok_eq(f.read, second);
	ring_view_read(&f.view, take, &f);
	ok_eq(f.nr_read, 1);
	*header_at(&f, second) = 72;
	ring_view_read(&f.view, take, &f);
	ok_eq(f.nr_read, 3);
	ok_eq(f.read, f.written);
	free(f.data);
}

static void room_is_given_back_on_the_way(void)
{
	struct fake f;

	fake_init(&f);
	for (unsigned int i = 0; i < RINGS_TELL_RECORDS + 5; i++)
		fake_write(&f, 8, i == RINGS_TELL_RECORDS + 2 ? BPF_RINGBUF_BUSY_BIT : 0, 0);
	ring_view_read(&f.view, take, &f);
	ok_eq(f.nr_read, RINGS_TELL_RECORDS + 2);
	ok_eq(f.read, (RINGS_TELL_RECORDS + 2) * 16);
	free(f.data);
}

/* Longer than ours ever are: cut, and what follows is whole. */
static void a_long_one_across_the_end_is_cut(void)
{
	struct fake f;

	fake_init(&f);
	f.written = f.read = RING_BYTES - 512;
	fake_write(&f, 1000, 0, 7);
	fake_write(&f, 16, 0, 7);
	ring_view_read(&f.view, take, &f);
	ok_eq(f.nr_read, 2);
	ok_eq(f.sum_read, (7000u + RINGS_RECORD_MAX) * 31 + 7016);
	ok_eq(f.bad, 0);
	ok_eq(f.read, f.written);
	free(f.data);
}

static const struct tap_test tests[] = {
	{ "records of all lengths come whole and in order", all_lengths_come_whole_and_in_order },
	{ "one that is being written is waited for", one_that_is_being_written_is_waited_for },
	{ "room is given back on the way", room_is_given_back_on_the_way },
	{ "one too long across the end is cut", a_long_one_across_the_end_is_cut },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
