// SPDX-License-Identifier: Apache-2.0
#include "analyzer/humane.h"

#include <math.h>
#include <stdio.h>

/* Digits behind the point that leave three in all. */
static int decimals(double value)
{
	double size = fabs(value);

	return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

static const char *scaled(double value, double step, const char *const *units, unsigned int nr,
			  char out[HUMANE_BYTES])
{
	unsigned int unit = 0;

	if (isnan(value)) {
		snprintf(out, HUMANE_BYTES, "-");
		return out;
	}
	while (fabs(value) >= step - 0.5 && unit + 1 < nr) {
		value /= step;
		unit++;
	}
	snprintf(out, HUMANE_BYTES, "%.*f%s%s",
		 unit == 0 && value == floor(value) ? 0 : decimals(value), value,
		 *units[unit] ? " " : "", units[unit]);
	return out;
}

const char *humane_bytes(double bytes, char out[HUMANE_BYTES])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };

	return scaled(bytes, 1024, units, 6, out);
}

const char *humane_number(double value, char out[HUMANE_BYTES])
{
	static const char *const units[] = { "", "M", "G", "T" };

	/* Thousands are read well without a unit: 12345 IOPS, not 12.3 k. */
	if (isnan(value) || fabs(value) < 999999.5)
		return scaled(value, 1e6, units, 1, out);
	return scaled(value / 1e6, 1e3, units + 1, 3, out);
}

const char *humane_percent(double ratio, char out[HUMANE_BYTES])
{
	if (isnan(ratio))
		snprintf(out, HUMANE_BYTES, "-");
	else
		snprintf(out, HUMANE_BYTES, "%.1f %%", ratio * 100);
	return out;
}
