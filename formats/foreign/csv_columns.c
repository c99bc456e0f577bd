/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/foreign/csv_columns.h"

#include <errno.h>

#include "formats/request.h"

struct unit {
	const char *name;
	uint64_t value;
};

static const struct unit time_units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 },
					  { "ns", 1 },	       { "100ns", 100 },  { NULL, 0 } };
static const struct unit place_units[] = { { "bytes", 1 },     { "sectors", SECTOR_BYTES },
					   { "kib", 1024 },    { "4k", 4096 },
					   { "mib", 1 << 20 }, { NULL, 0 } };
static const struct unit operation_units[] = { { "rw", CSV_LETTERS },
					       { "scsi", CSV_SCSI },
					       { "read0", CSV_READ_0 },
					       { "read1", CSV_READ_1 },
					       { NULL, 0 } };
static const struct unit no_units[] = { { NULL, 0 } };

/* The names that --map accepts, and the unit that applies where none is given. */
static const struct {
	const char *name;
	const struct unit *units;
	uint64_t unit;
} fields[NR_CSV_FIELDS] = {
	[CSV_TIME] = { "time", time_units, 1000000000 },
	[CSV_OFFSET] = { "offset", place_units, 1 },
	[CSV_SIZE] = { "size", place_units, 1 },
	[CSV_OPERATION] = { "op", operation_units, CSV_LETTERS },
	[CSV_RESPONSE] = { "response", time_units, 1000000000 },
	[CSV_QUEUE] = { "queue", time_units, 1000000000 },
	[CSV_SERVICE] = { "service", time_units, 1000000000 },
	[CSV_DEVICE] = { "device", no_units, 1 },
	[CSV_DEVICE_NAME] = { "name", no_units, 1 },
	[CSV_HOST] = { "host", no_units, 1 },
	[CSV_TID] = { "tid", no_units, 1 },
	[CSV_PID] = { "pid", no_units, 1 },
	[CSV_CGROUP] = { "cgroup", no_units, 1 },
	[CSV_DEPTH] = { "depth", no_units, 1 },
	[CSV_REQUEUES] = { "requeues", no_units, 1 },
	[CSV_ERROR] = { "error", no_units, 1 },
	[CSV_FLAGS] = { "flags", no_units, 1 },
};

/* The usual names of columns in headings. The name of a time may end in _s, _ms, _us or _ns. */
static const struct {
	const char *name;
	enum csv_field field;
	uint64_t unit;
} headings[] = {
	{ "time", CSV_TIME, 1000000000 },
	{ "timestamp", CSV_TIME, 1000000000 },
	{ "ts", CSV_TIME, 1000000000 },
	{ "arrival", CSV_TIME, 1000000000 },
	{ "offset", CSV_OFFSET, 1 },
	{ "offset_bytes", CSV_OFFSET, 1 },
	{ "lbn", CSV_OFFSET, SECTOR_BYTES },
	{ "lba", CSV_OFFSET, SECTOR_BYTES },
	{ "sector", CSV_OFFSET, SECTOR_BYTES },
	{ "size", CSV_SIZE, 1 },
	{ "length", CSV_SIZE, 1 },
	{ "len", CSV_SIZE, 1 },
	{ "bytes", CSV_SIZE, 1 },
	{ "size_bytes", CSV_SIZE, 1 },
	{ "sectors", CSV_SIZE, SECTOR_BYTES },
	{ "op", CSV_OPERATION, CSV_LETTERS },
	{ "operation", CSV_OPERATION, CSV_LETTERS },
	{ "opcode", CSV_OPERATION, CSV_LETTERS },
	{ "type", CSV_OPERATION, CSV_LETTERS },
	{ "iotype", CSV_OPERATION, CSV_LETTERS },
	{ "rw", CSV_OPERATION, CSV_LETTERS },
	{ "response", CSV_RESPONSE, 1000000000 },
	{ "responsetime", CSV_RESPONSE, 1000000000 },
	{ "response_time", CSV_RESPONSE, 1000000000 },
	{ "latency", CSV_RESPONSE, 1000000000 },
	{ "total", CSV_RESPONSE, 1000000000 }, /* as blkcast dump writes it */
	{ "queue", CSV_QUEUE, 1000000000 },
	/* "device_s" is written by blkcast dump; "device" alone is the name of a device */
	{ "device_s", CSV_SERVICE, 1000000000 },
	{ "service", CSV_SERVICE, 1000000000 },
	{ "device", CSV_DEVICE, 1 },
	{ "device_id", CSV_DEVICE, 1 },
	{ "dev", CSV_DEVICE, 1 },
	{ "disk", CSV_DEVICE, 1 },
	{ "disknumber", CSV_DEVICE, 1 },
	{ "volume", CSV_DEVICE, 1 },
	{ "lun", CSV_DEVICE, 1 },
	{ "device_name", CSV_DEVICE_NAME, 1 },
	{ "host", CSV_HOST, 1 },
	{ "hostname", CSV_HOST, 1 },
	{ "tid", CSV_TID, 1 },
	{ "pid", CSV_PID, 1 },
	{ "cgroup_id", CSV_CGROUP, 1 },
	{ "queue_depth", CSV_DEPTH, 1 },
	{ "requeues", CSV_REQUEUES, 1 },
	{ "error", CSV_ERROR, 1 },
	{ "flags", CSV_FLAGS, 1 },
};

void csv_columns_init(struct csv_columns *c)
{
	*c = (struct csv_columns){ .delimiter = ',', .last = -1, .by_name = true };
	for (int i = 0; i < NR_CSV_FIELDS; i++)
		c->field[i] = (struct csv_column){ .at = -1, .unit = fields[i].unit };
}

static int take_unit(struct csv_column *column, int field, struct text unit, struct err *err)
{
	const struct unit *u = fields[field].units;

	while (u->name && !text_is(unit, u->name))
		u++;
	if (!u->name)
		return err_set(err, EINVAL, "columns: %s: expected a unit such as %s, got '%.*s'",
			       fields[field].name,
			       fields[field].units->name ? fields[field].units->name : "none",
			       (int)text_len(unit), unit.at);
	column->unit = u->value;
	return 0;
}

static int take_delimiter(struct csv_columns *c, struct text word, struct err *err)
{
	if (text_is(word, "tab"))
		c->delimiter = '\t';
	else if (text_is(word, "space"))
		c->delimiter = ' ';
	else if (text_is(word, "comma"))
		c->delimiter = ',';
	else if (text_is(word, "semicolon"))
		c->delimiter = ';';
	else
		return err_set(err, EINVAL,
			       "columns: delimiter: expected comma, semicolon, tab or space");
	return 0;
}

static int take_entry(struct csv_columns *c, struct text entry, struct err *err)
{
	struct text name, where;
	struct csv_column *column;
	uint64_t number;
	int field = 0;

	if (!text_field(&entry, '=', &name) || !text_field(&entry, ':', &where) || !text_len(where))
		return err_set(err, EINVAL, "columns: expected FIELD=COLUMN[:UNIT], got '%.*s'",
			       (int)text_len(name), name.at);
	if (text_is(name, "delimiter"))
		return take_delimiter(c, where, err);
	while (field < NR_CSV_FIELDS && !text_is(name, fields[field].name))
		field++;
	if (field == NR_CSV_FIELDS)
		return err_set(err, EINVAL,
			       "columns: expected time, offset, size, op, response, device, host, "
			       "..., got '%.*s'",
			       (int)text_len(name), name.at);
	column = &c->field[field];
	if (text_u64(where, &number)) {
		if (number == 0 || number > CSV_COLUMNS_MAX)
			return err_set(err, EINVAL, "columns: %s: expected a column from 1 to %d",
				       fields[field].name, CSV_COLUMNS_MAX);
		column->at = (int)number - 1;
		if (column->at > c->last)
			c->last = column->at;
	} else {
		column->name = where;
		c->by_name = true;
	}
	return entry.at <= entry.end ? take_unit(column, field, entry, err) : 0;
}

int csv_columns_parse(struct csv_columns *c, const char *map, struct err *err)
{
	static const enum csv_field needed[] = { CSV_TIME, CSV_OFFSET, CSV_SIZE };
	struct text all = text_make(map, strlen(map)), entry;

	csv_columns_init(c);
	c->by_name = false;
	while (text_field(&all, ',', &entry)) {
		int ret = take_entry(c, entry, err);

		if (ret < 0)
			return ret;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (c->field[needed[i]].at < 0 && !c->field[needed[i]].name.at)
			return err_set(err, EINVAL, "columns: expected a column for %s",
				       fields[needed[i]].name);
	return 0;
}

static bool is_unit_of_time(struct text name, struct text *stem, uint64_t *unit)
{
	const char *at = name.end;

	while (at > name.at && at[-1] != '_')
		at--;
	if (at == name.at)
		return false;
	for (const struct unit *u = time_units; u->name; u++) {
		if (!text_is(text_make(at, (size_t)(name.end - at)), u->name))
			continue;
		*stem = text_make(name.at, (size_t)(at - 1 - name.at));
		*unit = u->value;
		return true;
	}
	return false;
}

/* Recognizes a column by the usual names in headings. The first column of a kind counts. */
static void csv_columns_know(struct csv_columns *c, struct text name, int at)
{
	uint64_t unit = 0;
	struct text stem;

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(headings) / sizeof(*headings); i++) {
			struct csv_column *column = &c->field[headings[i].field];

			if (!text_is(name, headings[i].name) ||
			    (round && fields[headings[i].field].units != time_units))
				continue;
			if (column->at < 0) {
				column->at = at;
				column->unit = round ? unit : headings[i].unit;
			}
			return;
		}
		if (round || !is_unit_of_time(name, &stem, &unit))
			return;
		name = stem;
	}
}

bool csv_columns_heading(struct csv_columns *c, struct text line)
{
	bool mapped = c->field[CSV_TIME].name.at || c->field[CSV_TIME].at >= 0;
	struct text name;

	for (int at = 0; at < CSV_COLUMNS_MAX && text_field(&line, c->delimiter, &name); at++) {
		name = text_trim(name);
		if (!mapped)
			csv_columns_know(c, name, at);
		for (int i = 0; mapped && i < NR_CSV_FIELDS; i++) {
			struct text want = c->field[i].name;

			if (want.at && text_len(want) == text_len(name) &&
			    memcmp(want.at, name.at, text_len(name)) == 0)
				c->field[i].at = at;
		}
	}
	for (int i = 0; i < NR_CSV_FIELDS; i++) {
		if (c->field[i].name.at && c->field[i].at < 0)
			return false;
		if (c->field[i].at > c->last)
			c->last = c->field[i].at;
	}
	return c->field[CSV_TIME].at >= 0 && c->field[CSV_OFFSET].at >= 0 &&
	       c->field[CSV_SIZE].at >= 0;
}
