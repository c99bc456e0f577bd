/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_formats: the formats whose lines have the same fields in the same order. Each is a table of
 * its fields; line_read() is the reader of all of them.
 */
#include "formats/foreign/foreign.h"

#define S_NS		 1000000000u
#define MS_NS		 1000000u
#define US_NS		 1000u
#define FILETIME_OF_1970 116444736000000000ull
#define FILETIME_NS	 100u
#define LINE_FIELDS_MAX	 7

enum line_kind {
	LINE_END,	  /* ends the fields */
	LINE_TIME,	  /* arrival, in units of unit ns, with or without a fraction */
	LINE_WHOLE_NS,	  /* arrival, in ns without a fraction */
	LINE_FILETIME,	  /* arrival, in units of 100 ns since 1601 (Windows FILETIME) */
	LINE_RESPONSE,	  /* response time, in units of unit ns */
	LINE_MAY_RESPOND, /* response time in units of unit ns, or empty */
	LINE_HOST,
	LINE_DEVICE,
	LINE_OFFSET,	/* offset in bytes */
	LINE_SECTOR,	/* offset in sectors */
	LINE_SIZE,	/* size in units of unit bytes */
	LINE_DIRECTION, /* R, W, Read, Write, ... */
	LINE_WRITE,	/* 0 is a read and 1 a write */
	LINE_READ,	/* 0 is a write and 1 a read */
	LINE_FLAGS,	/* hexadecimal; bit 0 is set for a read */
};

struct line_field {
	enum line_kind kind;
	uint32_t unit;
	const char *expected; /* the reason for which a line is skipped */
};

struct line_layout {
	const char *heading; /* the first field of a heading; NULL: there is none */
	const char *prefix;  /* begin of the device's name, before the text of the line */
	char delimiter;	     /* 0: the fields are words, parted by blanks */
	bool is_open;	     /* further fields may follow, and fields may have blanks around them */
	const char *expected;
	struct line_field fields[LINE_FIELDS_MAX + 1];
};

struct line_values {
	struct text host, device;
	uint64_t arrival_ns, response_ns, offset_bytes;
	uint8_t operation;
	bool has_response, has_bytes; /* has_bytes: the offset is in bytes */
};

static bool line_take_filetime(struct text t, uint64_t *arrival_ns)
{
	uint64_t ticks;

	if (!text_u64(t, &ticks) || ticks < FILETIME_OF_1970 ||
	    ticks - FILETIME_OF_1970 > UINT64_MAX / FILETIME_NS)
		return false;
	*arrival_ns = (ticks - FILETIME_OF_1970) * FILETIME_NS;
	return true;
}

static bool line_take_size(struct text t, uint32_t unit, uint32_t *bytes)
{
	uint64_t units;

	if (!text_u64(t, &units) || units > UINT32_MAX / unit)
		return false;
	*bytes = (uint32_t)units * unit;
	return true;
}

static bool line_take_operation(struct text t, enum line_kind kind, uint8_t *operation)
{
	uint64_t value;
	bool read;

	if (kind == LINE_FLAGS ? !text_hex(t, &value) : !text_u64(t, &value) || value > 1)
		return false;
	read = kind == LINE_WRITE ? !value : value & 1;
	*operation = read ? OPERATION_READ : OPERATION_WRITE;
	return true;
}

static bool line_take(const struct line_field *d, struct text t, struct line_values *v,
		      struct request *r)
{
	switch (d->kind) {
	case LINE_TIME:
		return text_ns(t, d->unit, &v->arrival_ns);
	case LINE_WHOLE_NS:
		return text_u64(t, &v->arrival_ns);
	case LINE_FILETIME:
		return line_take_filetime(t, &v->arrival_ns);
	case LINE_RESPONSE:
	case LINE_MAY_RESPOND:
		v->has_response = d->kind == LINE_RESPONSE || text_len(t);
		return !v->has_response || text_ns(t, d->unit, &v->response_ns);
	case LINE_HOST:
		v->host = t;
		return true;
	case LINE_DEVICE:
		v->device = t;
		return true;
	case LINE_OFFSET:
		v->has_bytes = true;
		return text_u64(t, &v->offset_bytes);
	case LINE_SECTOR:
		return text_u64(t, &r->sector);
	case LINE_SIZE:
		return line_take_size(t, d->unit, &r->bytes);
	case LINE_DIRECTION:
		return text_direction(t, &v->operation);
	default:
		return line_take_operation(t, d->kind, &v->operation);
	}
}

/* Returns whether the line has the fields of the layout and, where it is not open, no others. */
static bool line_split(const struct line_layout *layout, struct text line, struct text *fields)
{
	struct text rest;

	for (unsigned int i = 0; layout->fields[i].kind; i++) {
		if (layout->delimiter ? !text_field(&line, layout->delimiter, &fields[i])
				      : !text_word(&line, &fields[i]))
			return false;
		if (layout->is_open)
			fields[i] = text_trim(fields[i]);
	}
	return layout->is_open ||
	       (layout->delimiter ? line.at > line.end : !text_word(&line, &rest));
}

static enum foreign_step line_read(struct foreign *f, struct text line, struct request *r)
{
	const struct line_layout *layout = f->format->layout;
	struct line_values v = { .host = text_make("", 0) };
	struct text fields[LINE_FIELDS_MAX], shown;
	int64_t device;

	shown = layout->is_open || !layout->delimiter ? text_trim(line) : line;
	if (shown.at == shown.end)
		return FOREIGN_NOTHING;
	if (!line_split(layout, shown, fields))
		return foreign_because(f, "expected %s", layout->expected);
	if (layout->heading && text_is(fields[0], layout->heading))
		return FOREIGN_NOTHING;
	for (unsigned int i = 0; layout->fields[i].kind; i++)
		if (!line_take(&layout->fields[i], fields[i], &v, r))
			return foreign_because(f, "%s", layout->fields[i].expected);
	device = foreign_device(f, v.host, layout->prefix, v.device);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, v.arrival_ns, v.operation);
	if (v.has_response)
		foreign_responded(r, v.response_ns);
	if (v.has_bytes)
		r->sector = foreign_sector(f, v.offset_bytes);
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

#define LINE_FORMAT(id, its_title, its_traits, its_heading, its_prefix, its_delimiter, opens, \
		    words, ...)                                                               \
	static const struct line_layout id##_layout = { .heading = its_heading,               \
							.prefix = its_prefix,                 \
							.delimiter = its_delimiter,           \
							.is_open = opens,                     \
							.expected = words,                    \
							.fields = { __VA_ARGS__ } };          \
	const struct foreign_format foreign_##id = { .name = #id,                             \
						     .title = its_title,                      \
						     .traits = its_traits,                    \
						     .line = line_read,                       \
						     .layout = &id##_layout }

/* Traces of MSR Cambridge (SNIA IOTTA 388). Type is Read or Write. */
LINE_FORMAT(msr, "MSR Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
	    FOREIGN_WALL, "Timestamp", "disk", ',', false, "7 fields parted by commas",
	    { LINE_FILETIME, 0, "Timestamp: expected 100 ns since 1601, from 1970 on" },
	    { LINE_HOST, 0, NULL }, { LINE_DEVICE, 0, NULL },
	    { LINE_DIRECTION, 0, "Type: expected Read or Write" },
	    { LINE_OFFSET, 0, "Offset: expected bytes" },
	    { LINE_SIZE, 1, "Size: expected bytes below 4 GiB" },
	    { LINE_RESPONSE, FILETIME_NS, "ResponseTime: expected units of 100 ns" });

/* Block traces of Alibaba (alibaba/block-traces, io_traces.csv); times are since 1970. */
LINE_FORMAT(alibaba, "Alibaba: device_id,opcode,offset,length,timestamp", FOREIGN_WALL, "device_id",
	    "vd", ',', false, "5 fields parted by commas", { LINE_DEVICE, 0, NULL },
	    { LINE_DIRECTION, 0, "opcode: expected R or W" },
	    { LINE_OFFSET, 0, "offset: expected bytes" },
	    { LINE_SIZE, 1, "length: expected bytes below 4 GiB" },
	    { LINE_TIME, US_NS, "timestamp: expected microseconds" });

/* Traces of Tencent CBS (SNIA IOTTA 27917); times are since 1970. */
LINE_FORMAT(tencent, "Tencent CBS: Timestamp,Offset,Size,IOType,VolumeID", FOREIGN_WALL,
	    "Timestamp", "vol", ',', false, "5 fields parted by commas",
	    { LINE_TIME, S_NS, "Timestamp: expected seconds" },
	    { LINE_SECTOR, 0, "Offset: expected sectors" },
	    { LINE_SIZE, SECTOR_BYTES, "Size: expected sectors, below 4 GiB" },
	    { LINE_WRITE, 0, "IOType: expected 0 (read) or 1 (write)" }, { LINE_DEVICE, 0, NULL });

/*
 * Traces of the Storage Performance Council (SPC Trace File Format Specification, revision 1.0.1),
 * such as UMass Financial and WebSearch. LBA counts blocks of 512 bytes within the ASU, and the
 * times are from the beginning of the trace. More fields may follow, and blank lines occur.
 */
LINE_FORMAT(spc, "SPC and UMass: ASU,LBA,Size,Opcode,Timestamp", 0, NULL, "asu", ',', true,
	    "5 fields or more, parted by commas", { LINE_DEVICE, 0, NULL },
	    { LINE_SECTOR, 0, "LBA: expected blocks" },
	    { LINE_SIZE, 1, "Size: expected bytes below 4 GiB" },
	    { LINE_DIRECTION, 0, "Opcode: expected R or W" },
	    { LINE_TIME, S_NS, "Timestamp: expected seconds" });

/* Traces of SYSTOR'17 (SNIA IOTTA 4928, enterprise virtual desktops); times are since 1970. */
LINE_FORMAT(systor, "SYSTOR'17: Timestamp,Response,IOType,LUN,Offset,Size", FOREIGN_WALL,
	    "Timestamp", "lun", ',', false, "6 fields parted by commas",
	    { LINE_TIME, S_NS, "Timestamp: expected seconds" },
	    { LINE_MAY_RESPOND, S_NS, "Response: expected seconds or nothing" },
	    { LINE_DIRECTION, 0, "IOType: expected R or W" }, { LINE_DEVICE, 0, NULL },
	    { LINE_OFFSET, 0, "Offset: expected bytes" },
	    { LINE_SIZE, 1, "Size: expected bytes below 4 GiB" });

/* Traces of SSDSim and MQSim. The type is the reverse of most formats. */
LINE_FORMAT(ssdsim, "SSDSim and MQSim: time_ns device sector sectors 0=write|1=read", 0, NULL,
	    "dev", 0, false, "5 fields parted by blanks",
	    { LINE_WHOLE_NS, 0, "time: expected whole nanoseconds" }, { LINE_DEVICE, 0, NULL },
	    { LINE_SECTOR, 0, "sector: expected a number" },
	    { LINE_SIZE, SECTOR_BYTES, "length: expected sectors, below 4 GiB" },
	    { LINE_READ, 0, "type: expected 0 (write) or 1 (read)" });

/*
 * DiskSim's default ASCII trace (The DiskSim Simulation Environment Version 4.0 Reference Manual,
 * 7.1), with times in milliseconds.
 */
LINE_FORMAT(disksim, "DiskSim: time_ms device sector sectors flags", 0, NULL, "dev", 0, false,
	    "5 fields parted by blanks", { LINE_TIME, MS_NS, "time: expected milliseconds" },
	    { LINE_DEVICE, 0, NULL }, { LINE_SECTOR, 0, "sector: expected a number" },
	    { LINE_SIZE, SECTOR_BYTES, "length: expected sectors, below 4 GiB" },
	    { LINE_FLAGS, 0, "flags: expected a hexadecimal number" });
