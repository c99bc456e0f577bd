/* SPDX-License-Identifier: Apache-2.0 */
/* segment_summary_file: the declarations that the writer and the reader of a summary file share. */
#ifndef FORMATS_SEGMENT_SUMMARY_FILE_H
#define FORMATS_SEGMENT_SUMMARY_FILE_H

#include "formats/summary/segment_summary.h"

#define MAGIC  \
	"\x89" \
	"blksum\n"
#define MAGIC_BYTES  8
#define PREFIX_BYTES 24 /* magic, version, length, checksum */
#define SCHEMA	     "blkcast.summary/1"

#endif
