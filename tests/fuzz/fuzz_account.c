/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as changes to the file of an agent's account, which the next agent then opens, takes
 * over, and closes. The first byte says whether each copy is sealed again after the changes (bit
 * 0), whether the segment under way is durable (bit 1), and whether the file is the input itself
 * (bit 2). A change is a place (2 bytes, of a unit of 8 bytes), a length (1 byte, up to 32) and its
 * bytes. What one agent has told must not be told again by the one after.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/spool/account.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ACCOUNT_FUZZ_BOOT    "boot"
#define ACCOUNT_FUZZ_REAL_NS 1767225600000000000ull
#define ACCOUNT_FUZZ_CHANGE  32u

static void account_change(struct account_file *f, const uint8_t *data, size_t size)
{
	while (size >= 3) {
		size_t at = ((size_t)data[0] | (size_t)data[1] << 8) * 8 % sizeof(*f);
		size_t nr = data[2] % (ACCOUNT_FUZZ_CHANGE + 1);

		data += 3;
		size -= 3;
		if (nr > size)
			nr = size;
		if (nr > sizeof(*f) - at)
			nr = sizeof(*f) - at;
		memcpy((uint8_t *)f + at, data, nr);
		data += nr;
		size -= nr;
	}
}

static void account_seal_all(struct account_file *f)
{
	for (int i = 0; i < ACCOUNT_COPIES; i++) {
		account_seal_capture(&f->capture[i], f->capture[i].seal.serial);
		account_seal_stream(&f->stream[i], f->stream[i].seal.serial);
	}
}

static bool account_fuzz_durable(void *ctx, uint64_t epoch, uint64_t sequence)
{
	(void)epoch;
	(void)sequence;
	return *(const bool *)ctx;
}

/* One life of an agent; how many losses it tells of. */
static size_t account_live(const char *path, bool is_durable)
{
	struct account_config config = { .path = path,
					 .boot_id = ACCOUNT_FUZZ_BOOT,
					 .watches_all = true,
					 .is_durable = account_fuzz_durable,
					 .ctx = &is_durable };
	const struct account_base base = { .device = 8u << 20, .completed = 1000 };
	const struct account_count seen = { .device = 8u << 20, .nr = 5, .nr_countable = 5 };
	struct account *a = NULL;
	struct ledger told;
	uint64_t epoch;
	size_t nr;

	if (account_open(&a, &config, NULL))
		abort();
	epoch = account_next_epoch(a, ACCOUNT_FUZZ_REAL_NS);
	account_begin(a, epoch, ACCOUNT_FUZZ_REAL_NS, &base, 1);
	ledger_init(&told);
	account_seen(a, ACCOUNT_FUZZ_REAL_NS, &seen, 1);
	if (account_take(a, 0, &told))
		abort();
	for (size_t i = 0; i < told.nr; i++)
		if (told.losses[i].cause >= NR_LOSS_CAUSES)
			abort();
	account_prepare(a, 0, &seen, 1);
	account_commit(a, 0);
	if (account_has_untold(a))
		abort();
	account_end(a);
	account_close(a);
	nr = told.nr;
	ledger_release(&told);
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct account_file *f = aligned_alloc(_Alignof(struct account_file), sizeof(*f));
	struct account_choice choice;
	struct err err = { 0 };
	char path[FUZZ_PATH_MAX + 16];
	uint8_t how;

	if (!f)
		abort();
	how = size ? *data : 0;
	account_file_clear(f);
	if (size && how & 4)
		memcpy(f, data + 1, size - 1 < sizeof(*f) ? size - 1 : sizeof(*f));
	else if (size)
		account_change(f, data + 1, size - 1);
	if (how & 1)
		account_seal_all(f);
	if (account_file_choose(f, &choice, &err) && !err.line[0])
		abort();
	fuzz_put(fuzz_folder(), "ledger", f, sizeof(*f));
	snprintf(path, sizeof(path), "%s/ledger", fuzz_folder());
	account_live(path, how & 2);
	if (account_live(path, true)) /* the first one told all, and ended as it was meant to */
		abort();
	free(f);
	return 0;
}
