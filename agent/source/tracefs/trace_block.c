/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "agent/source/tracefs/trace_block.h"

#define RWBS_BYTES 16 /* older kernels have 8 bytes, newer ones 10 */

/* One event of a group is enough; the first that the kernel has is taken. */
struct wanted {
	const char *name;
	uint8_t kind, layer;
	bool is_needed;
	const char *unless; /* The event is left out where the kernel has this other event. */
};

static const struct wanted wanted[] = {
	{ "block_getrq", BLOCK_GETRQ, LAYER_DEVICE, false, NULL },
	{ "block_io_start", BLOCK_GETRQ, LAYER_DEVICE, false, "block_getrq" },
	{ "block_rq_insert", BLOCK_INSERT, LAYER_DEVICE, false, "block_getrq" },
	{ "block_bio_backmerge", BLOCK_BACKMERGE, LAYER_DEVICE, false, NULL },
	{ "block_bio_frontmerge", BLOCK_FRONTMERGE, LAYER_DEVICE, false, NULL },
	{ "block_rq_merge", BLOCK_RQ_MERGE, LAYER_DEVICE, false, NULL },
	{ "block_rq_requeue", BLOCK_REQUEUE, LAYER_DEVICE, false, NULL },
	{ "block_rq_issue", BLOCK_ISSUE, LAYER_DEVICE, true, NULL },
	{ "block_rq_complete", BLOCK_COMPLETE, LAYER_DEVICE, true, NULL },
	{ "block_bio_queue", BLOCK_QUEUE, LAYER_QUEUE, true, NULL },
	{ "block_bio_complete", BLOCK_COMPLETE, LAYER_QUEUE, true, NULL },
	{ "block_rq_complete", BLOCK_COMPLETE, LAYER_QUEUE, true, NULL },
};

static const struct trace_block_event *event_named(const struct trace_block *b, const char *name)
{
	for (size_t i = 0; name && i < b->nr; i++)
		if (!strcmp(b->events[i].name, name))
			return &b->events[i];
	return NULL;
}

static void trace_block_take(const struct trace_format *f, const char *name,
			     struct trace_field *out)
{
	const struct trace_field *field = trace_format_field(f, name);

	*out = field ? *field : (struct trace_field){ .size = 0 };
}

static int event_add(struct trace_block *b, const struct wanted *w, const char *text,
		     struct err *err)
{
	struct trace_block_event *e = &b->events[b->nr];
	struct trace_format f;
	int ret = trace_format_parse(&f, text, err);

	if (ret)
		return ret;
	*e = (struct trace_block_event){ .name = w->name, .id = f.id, .kind = w->kind };
	trace_block_take(&f, "common_type", &b->type);
	trace_block_take(&f, "common_pid", &e->tid);
	trace_block_take(&f, "dev", &e->device);
	trace_block_take(&f, "sector", &e->sector);
	trace_block_take(&f, "nr_sector", &e->nr_sector);
	trace_block_take(&f, "bytes", &e->bytes);
	trace_block_take(&f, "error", &e->error);
	trace_block_take(&f, "rwbs", &e->rwbs);
	trace_block_take(&f, "comm", &e->comm);
	if (!b->type.size || !e->device.size || !e->sector.size || !e->nr_sector.size ||
	    !e->rwbs.size)
		return err_set(err, EINVAL,
			       "tracefs: %s: expected the fields common_type, dev, sector, "
			       "nr_sector and rwbs in its format",
			       w->name);
	b->nr++;
	return 0;
}

int trace_block_init(struct trace_block *b, uint8_t layer,
		     const char *(*load)(void *ctx, const char *event), void *ctx, struct err *err)
{
	b->nr = 0;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct wanted *w = &wanted[i];
		const char *text = NULL;
		int ret;

		if (w->layer != layer || event_named(b, w->unless))
			continue;
		text = load(ctx, w->name);
		if (!text && w->is_needed)
			return err_set(err, ENODATA,
				       "tracefs: this kernel has no event block/%s (built without "
				       "CONFIG_BLK_DEV_IO_TRACE or CONFIG_EVENT_TRACING)",
				       w->name);
		ret = text ? event_add(b, w, text, err) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static bool trace_block_number(const struct trace_block *b, const struct trace_record *r,
			       const struct trace_field *f, uint64_t *out)
{
	*out = 0;
	return !f->size || trace_field_number(f, r->data, r->bytes, b->is_big_endian, out);
}

static int fields_read(const struct trace_block *b, const struct trace_block_event *e,
		       const struct trace_record *r, struct block_event *out)
{
	uint64_t tid, device, sector, nr_sector, bytes, error;
	char rwbs[RWBS_BYTES];

	if (!trace_block_number(b, r, &e->tid, &tid) ||
	    !trace_block_number(b, r, &e->device, &device) ||
	    !trace_block_number(b, r, &e->sector, &sector) ||
	    !trace_block_number(b, r, &e->nr_sector, &nr_sector) ||
	    !trace_block_number(b, r, &e->bytes, &bytes) ||
	    !trace_block_number(b, r, &e->error, &error) ||
	    !trace_field_text(&e->rwbs, r->data, r->bytes, b->is_big_endian, rwbs, sizeof(rwbs)) ||
	    nr_sector > UINT32_MAX / SECTOR_BYTES)
		return -EBADMSG;
	*out = (struct block_event){
		.time_ns = r->time_ns,
		.sector = sector,
		.bytes = (uint32_t)nr_sector * SECTOR_BYTES,
		.device = (uint32_t)device,
		.tid = (uint32_t)tid,
		/* The kernel reports a negative errno. */
		.error = (int64_t)error < 0 && -(int64_t)error <= UINT16_MAX
				 ? (uint16_t) - (int64_t)error
				 : 0,
		.kind = e->kind,
	};
	/*
	 * A command without sectors does not address blocks; only the length of its data is known.
	 */
	if (!nr_sector)
		out->bytes = (uint32_t)bytes;
	if (block_event_rwbs(out, rwbs, strlen(rwbs)))
		out->operation = OPERATION_OTHER;
	if (!nr_sector && bytes)
		out->flags |= REQUEST_PASSTHROUGH;
	return 1;
}

int trace_block_decode(const struct trace_block *b, const struct trace_record *r,
		       struct block_event *out, char comm[TRACE_COMM_BYTES])
{
	uint64_t id;
	int ret;

	if (!trace_field_number(&b->type, r->data, r->bytes, b->is_big_endian, &id))
		return -EBADMSG;
	for (size_t i = 0; i < b->nr; i++) {
		const struct trace_block_event *e = &b->events[i];

		if (e->id != id)
			continue;
		ret = fields_read(b, e, r, out);
		comm[0] = 0;
		if (ret == 1 && e->comm.size &&
		    !trace_field_text(&e->comm, r->data, r->bytes, b->is_big_endian, comm,
				      TRACE_COMM_BYTES))
			return -EBADMSG;
		return ret;
	}
	return 0;
}
