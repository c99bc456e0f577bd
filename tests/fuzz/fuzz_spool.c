/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a segment that waits in an agent's spool, its length and checksum put right. The
 * spool is opened, hands the segment out and sets it aside, and the ledger counts what is lost with
 * it, by the functions that the agent runs. The segment must be found lost exactly once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "agent/spool/spool.h"
#include "agent/spool/tally.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SPOOL_FUZZ_PREFIX 24 /* magic, length and checksum of a segment */
#define SPOOL_FUZZ_FILE	  "00000000000000000001-0000000002.seg"

struct spool_fuzz {
	struct ledger lost;
	unsigned int nr_lost, nr_gone;
};

static void spool_fuzz_lost(void *ctx, enum loss_cause cause, const struct spool_name *name,
			    const void *data, size_t len, const struct spool_content *content)
{
	struct spool_fuzz *f = ctx;
	size_t nr = f->lost.nr;
	int ret;

	(void)name;
	f->nr_lost++;
	/* An empty file has no bytes to hand over; what is known besides is always there. */
	if ((!data && len) || !content)
		abort();
	ret = tally_segment(data, len, cause, &f->lost);
	if (ret && (ret != -EBADMSG || f->lost.nr != nr))
		abort();
}

static void spool_fuzz_gone(void *ctx, const struct spool_name *name, bool is_gone)
{
	struct spool_fuzz *f = ctx;

	(void)name;
	f->nr_gone += is_gone;
}

static void spool_put_right(uint8_t *segment, size_t size)
{
	uint64_t sum = XXH3_64bits(segment + SPOOL_FUZZ_PREFIX, size - SPOOL_FUZZ_PREFIX);

	for (int i = 0; i < 4; i++)
		segment[12 + i] = (uint8_t)(size >> 8 * i);
	for (int i = 0; i < 8; i++)
		segment[16 + i] = (uint8_t)(sum >> 8 * i);
}

static void spool_take_out(const char *folder, const uint8_t *segment, size_t size)
{
	struct spool_fuzz seen = { .nr_lost = 0 };
	struct spool_config config = {
		.dir = folder, .lost = spool_fuzz_lost, .gone = spool_fuzz_gone, .ctx = &seen
	};
	struct spool *s = NULL;
	struct spool_name name;
	struct buf out = { 0 };

	ledger_init(&seen.lost);
	if (spool_open(&s, &config, NULL) || spool_files(s) != 1 || spool_peek(s, &name, &out))
		abort();
	if (name.epoch != 1 || name.sequence != 2 || out.len != size ||
	    (size && memcmp(out.data, segment, size)))
		abort();
	if (!spool_quarantine(s, "fuzzed") || spool_files(s))
		abort();
	if (seen.nr_lost != 1 || seen.nr_gone != 1)
		abort();
	spool_close(s);
	buf_release(&out);
	ledger_release(&seen.lost);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[FUZZ_PATH_MAX + 16];
	uint8_t *segment = malloc(size + 1);

	if (!segment)
		abort();
	if (!folder[0]) {
		snprintf(folder, sizeof(folder), "%s/spool", fuzz_folder());
		if (mkdir(folder, 0700))
			abort();
	}
	memcpy(segment, data, size);
	if (size >= SPOOL_FUZZ_PREFIX)
		spool_put_right(segment, size);
	fuzz_put(folder, SPOOL_FUZZ_FILE, segment, size);
	spool_take_out(folder, segment, size);
	free(segment);
	return 0;
}
