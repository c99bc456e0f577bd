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

/* The buffer keeps the first failure, so the results of the packer need not be checked. */
static void segment_header_pack_text(msgpack_packer *m, const char *s, size_t max)
{
	size_t len = strnlen(s, max);

	msgpack_pack_str(m, len);
	msgpack_pack_str_body(m, s, len);
}

static void segment_header_pack_key(msgpack_packer *m, const char *name)
{
	segment_header_pack_text(m, name, SEGMENT_NAME_BYTES);
}

static void segment_header_pack_number(msgpack_packer *m, const char *name, uint64_t value)
{
	segment_header_pack_key(m, name);
	msgpack_pack_uint64(m, value);
}

static void segment_header_pack_anchor(msgpack_packer *m, const char *name,
				       const struct clock_anchor *a)
{
	segment_header_pack_key(m, name);
	msgpack_pack_array(m, 3);
	msgpack_pack_uint64(m, a->monotonic_ns);
	msgpack_pack_uint64(m, a->boottime_ns);
	msgpack_pack_uint64(m, a->realtime_ns);
}

bool segment_file_system_ok(const char *text)
{
	static const char named[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	if (!*text)
		return true;
	do {
		size_t len = strspn(text, named);

		if (!len)
			return false;
		text += len;
	} while (*text++ == ',');
	return !text[-1];
}

static void segment_header_pack_devices(msgpack_packer *m, const struct segment_header *h,
					uint32_t version)
{
	bool has_file_system = version >= SEGMENT_VERSION;

	segment_header_pack_key(m, "devices");
	msgpack_pack_array(m, h->nr_devices);
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct segment_device *d = &h->devices[i];

		msgpack_pack_array(m, has_file_system ? 4 : 3);
		msgpack_pack_uint32(m, d->device);
		msgpack_pack_uint64(m, d->size_bytes);
		segment_header_pack_text(m, d->name, SEGMENT_NAME_BYTES - 1);
		if (has_file_system)
			segment_header_pack_text(m, d->file_system, SEGMENT_NAME_BYTES - 1);
	}
}

static void segment_header_pack_tables(msgpack_packer *m, const struct segment_header *h)
{
	segment_header_pack_key(m, "processes");
	msgpack_pack_array(m, h->nr_processes);
	for (size_t i = 0; i < h->nr_processes; i++) {
		msgpack_pack_array(m, 2);
		msgpack_pack_uint32(m, h->processes[i].pid);
		segment_header_pack_text(m, h->processes[i].comm, SEGMENT_COMM_BYTES - 1);
	}
	segment_header_pack_key(m, "cgroups");
	msgpack_pack_array(m, h->nr_cgroups);
	for (size_t i = 0; i < h->nr_cgroups; i++) {
		msgpack_pack_array(m, 2);
		msgpack_pack_uint64(m, h->cgroups[i].id);
		segment_header_pack_text(m, h->cgroups[i].path, SEGMENT_PATH_BYTES - 1);
	}
}

static void segment_header_pack_losses(msgpack_packer *m, const struct ledger *l)
{
	segment_header_pack_key(m, "losses");
	msgpack_pack_array(m, l ? l->nr : 0);
	for (size_t i = 0; l && i < l->nr; i++) {
		const struct loss *loss = &l->losses[i];

		msgpack_pack_array(m, 5);
		segment_header_pack_key(m, loss_cause_name(loss->cause));
		if (loss->count_known)
			msgpack_pack_uint64(m, loss->count);
		else
			msgpack_pack_nil(m);
		msgpack_pack_uint64(m, loss->begin_real_ns);
		msgpack_pack_uint64(m, loss->end_real_ns);
		msgpack_pack_uint32(m, loss->device);
	}
}

static int segment_header_pack_profiles(msgpack_packer *m, const struct segment_header *h,
					ZSTD_CCtx *zstd, struct buf *out)
{
	struct buf frame = { 0 };
	size_t total = 0;

	segment_header_pack_key(m, "profiles");
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

static void segment_header_pack_columns(msgpack_packer *m, const struct segment_layout *layout)
{
	segment_header_pack_key(m, "columns");
	msgpack_pack_array(m, NR_SEGMENT_COLUMNS);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		msgpack_pack_array(m, 2);
		segment_header_pack_key(m, segment_column_name(i));
		msgpack_pack_uint64(m, layout->column_bytes[i]);
	}
}

int segment_header_pack(const struct segment_header *h, const struct segment_layout *layout,
			uint32_t version, ZSTD_CCtx *zstd, struct buf *out)
{
	size_t before = out->len;
	msgpack_packer m;
	int ret;

	if (h->nr_devices > SEGMENT_MAX_DEVICES || h->nr_processes > SEGMENT_MAX_PROCESSES ||
	    h->nr_cgroups > SEGMENT_MAX_CGROUPS || h->nr_profiles > SEGMENT_MAX_PROFILES ||
	    (h->ledger && h->ledger->nr > SEGMENT_MAX_LOSSES))
		return -E2BIG;
	for (size_t i = 0; i < h->nr_devices; i++)
		if (!segment_file_system_ok(h->devices[i].file_system))
			return -EINVAL;
	msgpack_packer_init(&m, out, to_buf);
	msgpack_pack_map(&m, 17);
	segment_header_pack_key(&m, "host");
	segment_header_pack_text(&m, h->host, SEGMENT_NAME_BYTES - 1);
	segment_header_pack_key(&m, "boot_id");
	segment_header_pack_text(&m, h->boot_id, SEGMENT_NAME_BYTES - 1);
	segment_header_pack_key(&m, "agent_version");
	segment_header_pack_text(&m, h->agent_version, SEGMENT_NAME_BYTES - 1);
	segment_header_pack_number(&m, "epoch", h->epoch);
	segment_header_pack_number(&m, "sequence", h->sequence);
	segment_header_pack_key(&m, "source");
	segment_header_pack_key(&m, source_name(h->source) ? source_name(h->source) : "unknown");
	segment_header_pack_key(&m, "layer");
	segment_header_pack_key(&m, layer_name(h->layer) ? layer_name(h->layer) : "device");
	segment_header_pack_anchor(&m, "begin", &h->begin);
	segment_header_pack_anchor(&m, "end", &h->end);
	segment_header_pack_number(&m, "captured", h->nr_captured);
	segment_header_pack_number(&m, "requests", layout->nr_requests);
	segment_header_pack_devices(&m, h, version);
	segment_header_pack_tables(&m, h);
	segment_header_pack_losses(&m, h->ledger);
	segment_header_pack_columns(&m, layout);
	ret = segment_header_pack_profiles(&m, h, zstd, out);
	return ret ? ret : out->len - before > SEGMENT_MAX_HEADER_BYTES ? -E2BIG : out->error;
}
