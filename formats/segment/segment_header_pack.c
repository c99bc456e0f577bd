/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <msgpack.h>
#include <string.h>

#include "formats/segment/plane.h"
#include "formats/segment/segment_header.h"

static int to_buf(void *out, const char *bytes, size_t nr)
{
	return buf_put(out, bytes, nr);
}

/* The buffer keeps the first failure: what the packer returns need not be looked at. */
static void text(msgpack_packer *m, const char *s, size_t max)
{
	size_t len = strnlen(s, max);

	msgpack_pack_str(m, len);
	msgpack_pack_str_body(m, s, len);
}

static void key(msgpack_packer *m, const char *name)
{
	text(m, name, SEGMENT_NAME_BYTES);
}

static void number(msgpack_packer *m, const char *name, uint64_t value)
{
	key(m, name);
	msgpack_pack_uint64(m, value);
}

static void anchor(msgpack_packer *m, const char *name, const struct clock_anchor *a)
{
	key(m, name);
	msgpack_pack_array(m, 3);
	msgpack_pack_uint64(m, a->monotonic_ns);
	msgpack_pack_uint64(m, a->boottime_ns);
	msgpack_pack_uint64(m, a->realtime_ns);
}

static void tables(msgpack_packer *m, const struct segment_header *h)
{
	key(m, "devices");
	msgpack_pack_array(m, h->nr_devices);
	for (size_t i = 0; i < h->nr_devices; i++) {
		msgpack_pack_array(m, 3);
		msgpack_pack_uint32(m, h->devices[i].device);
		msgpack_pack_uint64(m, h->devices[i].size_bytes);
		text(m, h->devices[i].name, SEGMENT_NAME_BYTES - 1);
	}
	key(m, "processes");
	msgpack_pack_array(m, h->nr_processes);
	for (size_t i = 0; i < h->nr_processes; i++) {
		msgpack_pack_array(m, 2);
		msgpack_pack_uint32(m, h->processes[i].pid);
		text(m, h->processes[i].comm, SEGMENT_COMM_BYTES - 1);
	}
	key(m, "cgroups");
	msgpack_pack_array(m, h->nr_cgroups);
	for (size_t i = 0; i < h->nr_cgroups; i++) {
		msgpack_pack_array(m, 2);
		msgpack_pack_uint64(m, h->cgroups[i].id);
		text(m, h->cgroups[i].path, SEGMENT_PATH_BYTES - 1);
	}
}

static void losses(msgpack_packer *m, const struct ledger *l)
{
	key(m, "losses");
	msgpack_pack_array(m, l ? l->nr : 0);
	for (size_t i = 0; l && i < l->nr; i++) {
		const struct loss *loss = &l->losses[i];

		msgpack_pack_array(m, 5);
		key(m, loss_cause_name(loss->cause));
		if (loss->count_known)
			msgpack_pack_uint64(m, loss->count);
		else
			msgpack_pack_nil(m);
		msgpack_pack_uint64(m, loss->begin_real_ns);
		msgpack_pack_uint64(m, loss->end_real_ns);
		msgpack_pack_uint32(m, loss->device);
	}
}

static int profiles(msgpack_packer *m, const struct segment_header *h, ZSTD_CCtx *zstd,
		    struct buf *out)
{
	struct buf frame = { 0 };
	size_t total = 0;

	key(m, "profiles");
	msgpack_pack_array(m, h->nr_profiles);
	for (size_t i = 0; i < h->nr_profiles && !out->error; i++) {
		size_t len = strlen(h->profiles[i]);

		total += len;
		if (total > SEGMENT_MAX_PROFILE_BYTES) {
			buf_release(&frame);
			return -E2BIG;
		}
		buf_clear(&frame);
		if (plane_compress(&frame, zstd, h->profiles[i], len)) {
			out->error = frame.error;
		} else {
			msgpack_pack_bin(m, frame.len);
			msgpack_pack_bin_body(m, frame.data, frame.len);
		}
	}
	buf_release(&frame);
	return out->error;
}

static void columns(msgpack_packer *m, const struct segment_layout *layout)
{
	key(m, "columns");
	msgpack_pack_array(m, NR_SEGMENT_COLUMNS);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		msgpack_pack_array(m, 2);
		key(m, segment_column_name(i));
		msgpack_pack_uint64(m, layout->column_bytes[i]);
	}
}

int segment_header_pack(const struct segment_header *h, const struct segment_layout *layout,
			ZSTD_CCtx *zstd, struct buf *out)
{
	size_t before = out->len;
	msgpack_packer m;
	int ret;

	if (h->nr_devices > SEGMENT_MAX_DEVICES || h->nr_processes > SEGMENT_MAX_PROCESSES ||
	    h->nr_cgroups > SEGMENT_MAX_CGROUPS || h->nr_profiles > SEGMENT_MAX_PROFILES ||
	    (h->ledger && h->ledger->nr > SEGMENT_MAX_LOSSES))
		return -E2BIG;
	msgpack_packer_init(&m, out, to_buf);
	msgpack_pack_map(&m, 17);
	key(&m, "host");
	text(&m, h->host, SEGMENT_NAME_BYTES - 1);
	key(&m, "boot_id");
	text(&m, h->boot_id, SEGMENT_NAME_BYTES - 1);
	key(&m, "agent_version");
	text(&m, h->agent_version, SEGMENT_NAME_BYTES - 1);
	number(&m, "epoch", h->epoch);
	number(&m, "sequence", h->sequence);
	key(&m, "source");
	key(&m, source_name(h->source) ? source_name(h->source) : "unknown");
	key(&m, "layer");
	key(&m, layer_name(h->layer) ? layer_name(h->layer) : "device");
	anchor(&m, "begin", &h->begin);
	anchor(&m, "end", &h->end);
	number(&m, "captured", h->nr_captured);
	number(&m, "requests", layout->nr_requests);
	tables(&m, h);
	losses(&m, h->ledger);
	columns(&m, layout);
	ret = profiles(&m, h, zstd, out);
	return ret ? ret : out->len - before > SEGMENT_MAX_HEADER_BYTES ? -E2BIG : out->error;
}
