/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_columns: finds out which column of a CSV file holds which value, and in which unit.
 *
 *   time=3:us,offset=5:sectors,size=4,op=2:rw,response=6:us,device=1,delimiter=tab
 *
 * A column is given by its number, from 1, or by its name in the heading. Without a map, the names
 * in the heading decide; csv_columns.c lists the known ones.
 */
#ifndef FORMATS_CSV_COLUMNS_H
#define FORMATS_CSV_COLUMNS_H

#include <stdint.h>

#include "base/text/err.h"
#include "formats/foreign/foreign_text.h"

#define CSV_COLUMNS_MAX 64

enum csv_field {
	CSV_TIME,
	CSV_OFFSET,
	CSV_SIZE,
	CSV_OPERATION,
	CSV_RESPONSE,
	CSV_QUEUE,   /* time from arrival to dispatch */
	CSV_SERVICE, /* time from dispatch to completion */
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

/* The forms in which a file writes an operation. */
enum csv_operation {
	CSV_LETTERS, /* R, W, Read, Write, ...; other values are SCSI codes */
	CSV_SCSI,    /* hexadecimal SCSI operation code */
	CSV_READ_0,  /* 0 means read, 1 means write */
	CSV_READ_1,  /* 1 means read, 0 means write */
};

struct csv_column {
	int at;		  /* column, from 0; -1: there is none, or it has not been found yet */
	uint64_t unit;	  /* factor to ns or bytes, or enum csv_operation */
	struct text name; /* the name to look for in the heading; borrowed from the map */
};

struct csv_columns {
	struct csv_column field[NR_CSV_FIELDS];
	char delimiter;
	int last;     /* highest column in use */
	bool by_name; /* a heading is needed */
};

/* Parses a map, which is borrowed. Returns 0, or -EINVAL with one line in err. */
int csv_columns_parse(struct csv_columns *c, const char *map, struct err *err);
/*
 * Reads a heading and finds the columns that the map named or, without a map (by_name and no
 * names), the known names. Returns false where time, offset and size are not all found.
 */
bool csv_columns_heading(struct csv_columns *c, struct text line);
/* Prepares c for use without a map. */
void csv_columns_init(struct csv_columns *c);

#endif
