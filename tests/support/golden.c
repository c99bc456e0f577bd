/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "tests/support/golden.h"
#include "tests/support/traffic.h"

#define BEGIN 5000000000000u

/*
 * Makes streams, near misses and random offsets on two devices, with values in every kind of
 * column.
 */
static size_t structured(struct request *out)
{
	struct traffic t = { 101 };
	uint64_t now = BEGIN, next[4] = { 2048, 1 << 20, 1 << 21, 123 };

	for (size_t i = 0; i < 1200; i++) {
		struct request *r = &out[i];
		unsigned int stream = (unsigned int)(traffic_random(&t) % 6);

		*r = (struct request){ .source = SOURCE_BPF, .pid = 900, .cgroup_id = 77 };
		now += traffic_random(&t) % 20000;
		r->arrival_ns = now - (i % 100 == 7 ? 30000 : 0); /* some are out of order */
		r->dispatch_ns = r->arrival_ns + 500 + traffic_random(&t) % 3000;
		r->completion_ns = r->dispatch_ns + (80000 << traffic_random(&t) % 3) +
				   traffic_random(&t) % 40000;
		r->device = device_make(259, stream == 3);
		r->tid = 900 + stream;
		r->operation = stream == 1 ? OPERATION_WRITE : OPERATION_READ;
		r->flags = stream == 1 ? REQUEST_SYNC | REQUEST_FUA : REQUEST_READAHEAD;
		r->queue_depth = (uint32_t)(traffic_random(&t) % 4) + (uint32_t)i / 300;
		r->bytes = stream == 3 ? 1536 : 4096u << stream % 3;
		if (stream < 4) {
			r->sector = next[stream] + (traffic_random(&t) % 8 == 0 ? 24 : 0);
			next[stream] = r->sector + request_sectors(r);
		} else {
			r->sector = traffic_random(&t) % (1u << 27) * 8;
		}
		if (i % 400 == 399) {
			r->operation = OPERATION_FLUSH;
			r->sector = r->bytes = 0;
		}
		if (i == 600) {
			r->error = 5;
			r->requeues = 2;
		}
	}
	return 1200;
}

/* Makes an import with a resolution of 1 us, without latency, and from more than 256 threads. */
static size_t imported(struct request *out)
{
	struct traffic t = { 102 };
	uint64_t now = BEGIN;

	for (size_t i = 0; i < 700; i++) {
		now += 1000 * (traffic_random(&t) % 5000);
		out[i] =
			(struct request){ .arrival_ns = now,
					  .dispatch_ns = now,
					  .completion_ns = now,
					  .sector = traffic_random(&t) % 1000000,
					  .bytes = 512 * (1 + (uint32_t)(traffic_random(&t) % 999)),
					  .tid = 10 + (uint32_t)(i % 300),
					  .flags = REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION |
						   REQUEST_NO_CGROUP,
					  .operation = (uint8_t)(traffic_random(&t) % 2),
					  .source = SOURCE_IMPORT,
					  .layer = LAYER_QUEUE };
	}
	return 700;
}

size_t golden_requests(unsigned int segment, struct request *out)
{
	struct traffic t = { 103 };

	switch (segment) {
	case 1:
		return structured(out);
	case 2:
		return imported(out);
	case 3:
		traffic_anything(&t, out, 300);
		return 300;
	default:
		return 0;
	}
}

struct segment_header golden_header(unsigned int segment)
{
	static const struct segment_device devices[] = { { 259 << 20, 512110190592, "nvme0n1", "" },
							 { 259 << 20 | 1, 1000204886016, "sdb",
							   "" } };
	static const struct segment_process processes[] = { { 900, "fio" }, { 1, "systemd" } };
	static const struct segment_cgroup cgroups[] = { { 77, "/system.slice/db.service" } };
	static const char *const profiles[] = { "{\"schema\":\"blkcast.profile/1\",\"note\":1}" };
	struct segment_header h = { .epoch = 1700000000000000000,
				    .sequence = segment,
				    .source = SOURCE_BPF,
				    .begin = { BEGIN, BEGIN + 7, 1700000000000000000 },
				    .end = { BEGIN + 1000000000, BEGIN + 1000000007,
					     1700000001000000123 },
				    .nr_captured = 1000 * segment };

	snprintf(h.host, sizeof(h.host), "golden");
	snprintf(h.boot_id, sizeof(h.boot_id), "6f5e4d3c-2b1a-4089-8f7e-6d5c4b3a2918");
	snprintf(h.agent_version, sizeof(h.agent_version), "0.1.0");
	if (segment == 1) {
		h.devices = devices, h.nr_devices = 2;
		h.processes = processes, h.nr_processes = 2;
		h.cgroups = cgroups, h.nr_cgroups = 1;
		h.profiles = profiles, h.nr_profiles = 1;
	}
	return h;
}

void golden_file_systems(struct segment_header *h)
{
	static const struct segment_device devices[] = {
		{ 259 << 20, 512110190592, "nvme0n1", "vfat,ext4" },
		{ 259 << 20 | 1, 1000204886016, "sdb", "" },
	};

	if (h->nr_devices)
		h->devices = devices;
}

void golden_forget_operations(struct request *r, size_t nr)
{
	for (size_t i = 1; i < nr; i += 3) {
		if (r[i].operation > OPERATION_WRITE)
			continue;
		r[i].operation = OPERATION_OTHER;
		r[i].flags |= REQUEST_NO_OPERATION;
	}
}

void golden_pause_requests(struct request *r, size_t nr)
{
	for (size_t i = 2; i < nr; i += 5)
		r[i].flags |= REQUEST_PAUSED;
}

void golden_pauses(unsigned int segment, struct ledger *out)
{
	if (segment != 1)
		return;
	for (unsigned int cause = PAUSE_SUSPENDED; cause <= PAUSE_RESTORED; cause++)
		ledger_add(out,
			   &(struct loss){ (uint8_t)cause, true, 0, 1700000000300000000,
					   1700000000300000000 +
						   1000000007ull * (11 + cause - PAUSE_SUSPENDED),
					   0 });
}

void golden_losses(unsigned int segment, struct ledger *out)
{
	if (segment != 1)
		return;
	ledger_add(out, &(struct loss){ LOSS_RING_FULL, true, 41, 1700000000100000000,
					1700000000200000000, 259 << 20 });
	ledger_add(out, &(struct loss){ LOSS_NOT_WATCHED, false, 0, 1699999990000000000,
					1700000000000000000, 0 });
}
