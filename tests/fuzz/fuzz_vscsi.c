/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the output of VMware's `vscsiStats -p all -c`. Every profile that comes out must be
 * written and read again; every refusal has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/exchange/vscsi_stats.h"
#include "base/memory/buf.h"
#include "formats/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VSCSI_FUZZ_BEGIN_NS 1767225600000000000ull

static void vscsi_again(const struct profile *p)
{
	struct profile again;
	struct buf text = { 0 };
	struct err err = { 0 };

	profile_init(&again);
	if (profile_to_json(p, PROFILE_JSON_LINE, &text) ||
	    profile_from_json((const char *)text.data, text.len, &again, &err))
		abort();
	profile_release(&again);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct foreign_input *in = NULL;
	struct profile *profiles = NULL;
	struct err err = { 0 };
	size_t nr = 0;

	if (foreign_input_open_memory(&in, "fuzz", data, size, NULL))
		return 0;
	vscsi_stats_is(in);
	if (vscsi_stats_read(in, size % 2 ? "host" : NULL, VSCSI_FUZZ_BEGIN_NS, &profiles, &nr,
			     &err)) {
		if (profiles || !err.line[0])
			abort();
	}
	for (size_t i = 0; i < nr; i++) {
		vscsi_again(&profiles[i]);
		profile_release(&profiles[i]);
	}
	free(profiles);
	foreign_input_free(in);
	return 0;
}
