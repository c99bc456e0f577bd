// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/segment_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "analyzer/store/scan/scan_piece.h"

#define NR_COLUMNS 64

struct column_sum {
	const char *name;
	uint64_t coded_bytes, compressed_bytes;
};

/*
 * Adds the bytes that the columns of one segment take. Their names are static strings of the
 * reader.
 */
static size_t segment_columns_add(struct column_sum *sums, size_t nr, struct segment_reader *reader)
{
	struct segment_column_size sizes[NR_COLUMNS];
	size_t nr_sizes = segment_reader_columns(reader, sizes, NR_COLUMNS);

	for (size_t i = 0; i < nr_sizes && i < NR_COLUMNS; i++) {
		size_t at = 0;

		while (at < nr && strcmp(sums[at].name, sizes[i].name) != 0)
			at++;
		if (at == NR_COLUMNS)
			continue;
		if (at == nr)
			sums[nr++] = (struct column_sum){ .name = sizes[i].name };
		sums[at].coded_bytes += sizes[i].coded_bytes;
		sums[at].compressed_bytes += sizes[i].compressed_bytes;
	}
	return nr;
}

static int segment_columns_show(const struct column_sum *sums, size_t nr, uint64_t nr_requests,
				bool json, FILE *out)
{
	double per = nr_requests ? 1.0 / (double)nr_requests : 0;
	struct column_sum total = { .name = "total" };
	struct grid g;
	int ret;

	if (json) {
		fprintf(out, "{\"requests\":%" PRIu64 ",\"columns\":[", nr_requests);
		for (size_t i = 0; i < nr; i++)
			fprintf(out,
				"%s{\"column\":\"%s\",\"coded_bytes\":%" PRIu64
				",\"compressed_bytes\":%" PRIu64 "}",
				i ? "," : "", sums[i].name, sums[i].coded_bytes,
				sums[i].compressed_bytes);
		fprintf(out, "]}\n");
		return ferror(out) ? -EIO : 0;
	}
	grid_init(&g, "column|>coded bytes|>compressed bytes|>bytes per request");
	for (size_t i = 0; i <= nr; i++) {
		const struct column_sum *c = i < nr ? &sums[i] : &total;

		grid_cell(&g, "%s", c->name);
		grid_cell(&g, "%" PRIu64, c->coded_bytes);
		grid_cell(&g, "%" PRIu64, c->compressed_bytes);
		grid_cell(&g, "%.3f", (double)c->compressed_bytes * per);
		total.coded_bytes += c->coded_bytes;
		total.compressed_bytes += c->compressed_bytes;
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	return ret;
}

/* Column sizes belong to segments and not to requests, so files are read as they are. */
int segment_columns_print(const char *const *paths, size_t nr_paths, bool json, FILE *out,
			  struct err *err)
{
	struct column_sum sums[NR_COLUMNS];
	struct scan_pieces pieces = { 0 };
	struct scan_filter all = { 0 };
	uint64_t nr_requests = 0;
	struct buf data;
	size_t nr = 0;
	int ret = scan_pieces_of_files(&pieces, paths, nr_paths, &all, err);

	buf_init(&data);
	for (size_t i = 0; i < pieces.nr && ret == 0; i++) {
		struct segment_reader *reader = NULL;
		const struct scan_piece *p = &pieces.items[i];

		ret = scan_read_file(p->file, p->file_offset, p->file_bytes, &data, err);
		if (ret == 0)
			ret = segment_reader_new(&reader, data.data, data.len, err);
		if (ret < 0)
			break;
		nr = segment_columns_add(sums, nr, reader);
		nr_requests += p->nr_requests;
		segment_reader_free(reader);
	}
	buf_release(&data);
	scan_pieces_release(&pieces);
	if (ret < 0)
		return ret;
	return segment_columns_show(sums, nr, nr_requests, json, out);
}
