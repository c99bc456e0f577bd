/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_columns: which column of a CSV file holds what, in which unit.
 *
 *   time=3:us,offset=5:sectors,size=4,op=2:rw,response=6:us,device=1,delimiter=tab
 *
 * A column is its number, from 1, or its name in the heading. Without a map, the names of the heading
 * say: csv_columns.c has those that are known.
 */
#ifndef FORMATS_CSV_COLUMNS_H
#define FORMATS_CSV_COLUMNS_H

#include <stdint.h>

#include "base/err.h"
#include "formats/foreign/foreign_text.h"

#define CSV_COLUMNS_MAX 64

enum csv_field {
	CSV_TIME,
	CSV_OFFSET,
	CSV_SIZE,
	CSV_OPERATION,
	CSV_RESPONSE,
	CSV_QUEUE,   /* arrival to dispatch */
	CSV_SERVICE, /* dispatch to completion */
	CSV_DEVICE,
	CSV_DEVICE_NAME,
	CSV_HOST,
	CSV_TID,
	CSV_PID,
	CSV_CGROUP,
	CSV_DEPTH,
	CSV_REQUEUES,
	CSV_ERROR,
	CSV_FLAGS,
};
#define NR_CSV_FIELDS 17

/* How an operation is told. */
enum csv_operation {
	CSV_LETTERS, /* R, W, Read, Write, ...; else a SCSI code */
	CSV_SCSI,    /* hexadecimal operation code */
	CSV_READ_0,  /* 0 read, 1 write */
	CSV_READ_1,  /* 1 read, 0 write */
};

struct csv_column {
	int at;		  /* column from 0; -1: none, or not found yet */
	uint64_t unit;	  /* ns, bytes, or enum csv_operation */
	struct text name; /* to look for in the heading; borrowed from the map */
};

struct csv_columns {
	struct csv_column field[NR_CSV_FIELDS];
	char delimiter;
	int last;     /* highest column */
	bool by_name; /* a heading is needed */
};

/* -EINVAL with one line. The map is borrowed. */
int csv_columns_parse(struct csv_columns *c, const char *map, struct err *err);
/* Takes a heading: finds what the map named or, without a map (by_name and no names), what is known.
 * False where time, offset and size are not all there. */
bool csv_columns_heading(struct csv_columns *c, struct text line);
/* Without a map. */
void csv_columns_init(struct csv_columns *c);

#endif
