/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_formats: the formats that can be read, one line each, in the order in which they are
 * tried.
 */
#ifndef FORMATS_FOREIGN_FORMATS_H
#define FORMATS_FOREIGN_FORMATS_H

#include "formats/foreign/foreign.h"

/* clang-format off */
#define FOREIGN_FORMATS(X) \
	X(blktrace_files) \
	X(fio_iolog) \
	X(blkparse) \
	X(vscsi) \
	X(oracle) \
	X(msr) \
	X(alibaba) \
	X(tencent) \
	X(spc) \
	X(systor) \
	X(ssdsim) \
	X(disksim) \
	X(disksim_service) \
	X(arc) \
	X(csv)
/* clang-format on */

#define FORMAT_DECLARE(name) extern const struct foreign_format foreign_##name;
FOREIGN_FORMATS(FORMAT_DECLARE)

#endif
