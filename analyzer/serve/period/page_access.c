// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_access.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/serve/period/page_requests.h"
#include "base/data/json.h"
#include "workload/block_hash.h"
#include "workload/reuse.h"

#define FINE_ROWS   4096  /* regions from byte 0 on; they are joined as the offsets grow */
#define FIRST_SHIFT 12	  /* a region has 4 KiB at first */
#define BLOCK_BYTES 4096u /* bytes of a block of the cache */
#define BLOCKS_EACH 64	  /* blocks of one request that the cache sees; longer ones are cut */

struct page_access {
	struct page_requests requests;
	uint64_t nr_taken; /* reads and writes */
	unsigned int shift;
	uint32_t (*cells)[PAGE_ACCESS_COLUMNS][2]; /* owned, by row: reads and writes */
	struct reuse reuse;
	uint64_t salt;
	bool blocks_cut;
};

/* Makes the regions larger until the offset lies in one of them. */
static void page_access_grow(struct page_access *a, uint64_t offset)
{
	while (offset >> a->shift >= FINE_ROWS) {
		for (size_t row = 0; row < FINE_ROWS; row++)
			for (size_t column = 0; column < PAGE_ACCESS_COLUMNS; column++)
				for (int side = 0; side < 2; side++) {
					uint32_t nr = 0;

					for (size_t k = 2 * row;
					     row < FINE_ROWS / 2 && k < 2 * row + 2; k++)
						nr += a->cells[k][column][side];
					a->cells[row][column][side] = nr;
				}
		a->shift++;
	}
}

static int page_access_blocks(struct page_access *a, const struct request *r)
{
	uint64_t hashes[BLOCKS_EACH], first, last;
	size_t nr = 0;

	if (!block_range(r, &first, &last))
		return 0;
	a->blocks_cut |= last - first >= BLOCKS_EACH;
	for (uint64_t block = first; nr < BLOCKS_EACH && block <= last; block++)
		hashes[nr++] = block_hash(a->salt, block);
	return reuse_add_many(&a->reuse, hashes, nr);
}

static int page_access_take(struct page_access *a, const struct request *r, uint64_t real_ns)
{
	uint64_t offset =
		r->sector > UINT64_MAX / SECTOR_BYTES ? UINT64_MAX : r->sector * SECTOR_BYTES;
	double share = (double)(real_ns - a->requests.begin_ns) /
		       (double)(a->requests.end_ns - a->requests.begin_ns);
	size_t column = (size_t)(share * PAGE_ACCESS_COLUMNS);

	page_access_grow(a, offset);
	column = column < PAGE_ACCESS_COLUMNS ? column : PAGE_ACCESS_COLUMNS - 1;
	a->cells[offset >> a->shift][column][r->operation == OPERATION_WRITE]++;
	a->nr_taken++;
	return page_access_blocks(a, r);
}

static int page_access_request(void *ctx, const struct request *r, uint64_t real_ns)
{
	return r->operation <= OPERATION_WRITE ? page_access_take(ctx, r, real_ns) : 0;
}

static bool page_access_row_used(const struct page_access *a, size_t row)
{
	for (size_t column = 0; column < PAGE_ACCESS_COLUMNS; column++)
		if (a->cells[row][column][0] || a->cells[row][column][1])
			return true;
	return false;
}

/* Gives the used rows, joined to at most PAGE_ACCESS_ROWS, as [row, reads, writes] by column. */
static json_t *page_access_map_json(const struct page_access *a)
{
	size_t first = 0, last = 0, each;
	json_t *columns = json_array();

	for (size_t row = FINE_ROWS; row-- > 0;)
		first = page_access_row_used(a, row) ? row : first;
	for (size_t row = 0; row < FINE_ROWS; row++)
		last = page_access_row_used(a, row) ? row : last;
	each = (last - first) / PAGE_ACCESS_ROWS + 1;
	for (size_t column = 0; column < PAGE_ACCESS_COLUMNS; column++) {
		json_t *list = json_array();

		for (size_t row = 0; first + row * each <= last; row++) {
			double reads = 0, writes = 0;

			for (size_t i = first + row * each;
			     i < first + (row + 1) * each && i < FINE_ROWS; i++) {
				reads += a->cells[i][column][0];
				writes += a->cells[i][column][1];
			}
			if (reads + writes > 0)
				json_array_append_new(list, json_pack("[i, I, I]", (int)row,
								      (json_int_t)reads,
								      (json_int_t)writes));
		}
		json_array_append_new(columns, list);
	}
	return json_pack("{s:f, s:f, s:i, s:o}", "first_byte", ldexp((double)first, (int)a->shift),
			 "row_bytes", ldexp((double)each, (int)a->shift), "rows",
			 (int)((last - first) / each + 1), "columns", columns);
}

static json_t *page_access_curve_json(const struct page_access *a)
{
	struct cache_point *curve = NULL;
	json_t *list = json_array();
	size_t nr = 0;

	if (!a->blocks_cut && reuse_curve(&a->reuse, BLOCK_BYTES, &curve, &nr) < 0)
		nr = 0;
	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, json_pack("[f, f]", (double)curve[i].cache_bytes,
						      curve[i].miss_ratio));
	free(curve);
	return list;
}

int page_access_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		     struct err *err)
{
	struct page_access a = { .shift = FIRST_SHIFT };
	int ret = page_requests_init(&a.requests, q, err);

	if (ret < 0)
		return ret;
	a.requests.take = page_access_request;
	a.requests.ctx = &a;
	a.salt = block_hash_salt(1, a.requests.device);
	reuse_init(&a.reuse, REUSE_SAMPLES);
	a.cells = calloc(FINE_ROWS, sizeof(*a.cells));
	ret = a.cells ? page_requests_read(&a.requests, store, err) : -ENOMEM;
	if (ret == 0)
		*out = json_pack("{s:s, s:f, s:f, s:f, s:I, s:o, s:I, s:o, s:o}", "schema",
				 "blkcast.access/1", "begin_s", q->begin_s, "end_s", q->end_s,
				 "column_s", (q->end_s - q->begin_s) / PAGE_ACCESS_COLUMNS,
				 "requests", (json_int_t)a.nr_taken, "read_until_s",
				 json_number(a.requests.border_s), "unreadable",
				 (json_int_t)a.requests.nr_unreadable, "map",
				 page_access_map_json(&a), "miss_ratio",
				 page_access_curve_json(&a));
	reuse_release(&a.reuse);
	free(a.cells);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "no memory for the answer") : ret;
}
