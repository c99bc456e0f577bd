/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a trace of any format: the first byte chooses it (the last number: detect), the rest
 * is the file. Every request that comes out must be one that a segment takes, of a device that is
 * known.
 */
#include <stdlib.h>

#include "formats/foreign/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct foreign *f)
{
	struct request batch[64];
	struct err err = { 0 };
	int64_t nr;

	while ((nr = foreign_next(f, batch, 64, &err)) > 0)
		for (int64_t i = 0; i < nr; i++)
			if (request_check(&batch[i]) || batch[i].device >= f->nr_devices)
				abort();
	if (nr < 0 && !err.line[0])
		abort();
	if (f->skips.nr > f->nr_records)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct foreign_options options = { 0 };
	const struct foreign_format *format = NULL;
	struct foreign_input *in;
	struct foreign *f;
	size_t which;

	if (size < 2)
		return 0;
	which = data[0] % (nr_foreign_formats + 2);
	if (which == nr_foreign_formats + 1) /* CSV by a map */
		options.map =
			"time=1:us,offset=2:sectors,size=3,op=4:scsi,response=5,device=6,host=7";
	if (foreign_input_open_memory(&in, "fuzz", data + 1, size - 1, NULL))
		return 0;
	if (options.map)
		format = foreign_format_named("csv");
	else if (which < nr_foreign_formats)
		format = foreign_formats[which];
	else if (foreign_detect(in, &options, &format, NULL) || !format) {
		foreign_input_free(in);
		return 0;
	}
	if (foreign_open(&f, format, &options, &in, 1, NULL))
		return 0;
	check(f);
	foreign_close(f);
	return 0;
}
