// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/driver.h"
#include "tests/support/tap.h"

static double value(const struct driver *driver, const char *text, const char *name)
{
	struct plan plan = { .interval_s = 1, .nr_intervals = 1 };
	struct plan_load load = { .driver = driver };
	struct drive d = { &plan, &load, NULL };
	struct readings r = { 0 };
	struct err err = { 0 };
	double got = NAN;

	if (!driver->take(&d, text, strlen(text), true, &r, &err))
		got = readings_get(&r, 0, name);
	readings_release(&r);
	return got;
}

static void filebench_lines(void)
{
	static const char text[] =
		"60.1: Per-Operation Breakdown\n"
		"readfile1            9787ops      163ops/s  10.0mb/s      0.5ms/op [0.00ms -  0.88ms]\n"
		"60.1: IO Summary: 303389 ops 5055.849 ops/s 1631/163 rd/wr 100.5mb/s   0.25ms/op\n";

	ok_near(value(&driver_filebench, text, "readfile1_s"), 0.5e-3, 1e-15);
	ok_near(value(&driver_filebench, text, "readfile1_bytes_per_s"), 10 * 1048576.0, 1e-6);
	ok_near(value(&driver_filebench, text, "operation_per_s"), 5055.849, 1e-9);
	ok_near(value(&driver_filebench, text, "write_per_s"), 163, 1e-9);
	ok_near(value(&driver_filebench, text, "operation_s"), 0.25e-3, 1e-15);
	ok(isnan(value(&driver_filebench, "no summary\n", "operation_s")));
}

static void ffsb_lines(void)
{
	static const char text[] =
		"             readall :        11698\t    843.15\t15.010%\t\t10.380%\t   3.25MB/sec\n"
		"              append :         1010\t     72.80\t 1.296%\t\t10.380%\t    291KB/sec\n"
		"              delete :           93\t      6.70\t 0.119%\t\t 9.558%\t           NA\n"
		"[   read]\t0.003000\t0.005743\t5.221000\t       11698\n";

	ok_near(value(&driver_ffsb, text, "read_s"), 0.005743e-3, 1e-15);
	ok_near(value(&driver_ffsb, text, "read_requests"), 11698, 1e-9);
	ok_near(value(&driver_ffsb, text, "readall_bytes_per_s"), 3.25 * 1048576.0, 1e-6);
	ok_near(value(&driver_ffsb, text, "append_bytes_per_s"), 291 * 1024.0, 1e-6);
	ok_near(value(&driver_ffsb, text, "delete_per_s"), 6.7, 1e-9);
	ok(isnan(value(&driver_ffsb, text, "delete_bytes_per_s")));
}

/* Of fio's own count of what the device got, if there is one device alone. */
static void fio_devices(void)
{
	static const char one[] =
		"{\"jobs\": [{\"read\": {\"total_ios\": 244, \"io_bytes\": 255852544, \"runtime\": 700}}],\n"
		" \"disk_util\": [{\"name\": \"vda\", \"read_ios\": 452, \"write_ios\": 3}]}\n";
	static const char none[] = "{\"jobs\": [{\"read\": {\"total_ios\": 244}}]}\n";
	static const char two[] =
		"{\"jobs\": [{\"read\": {\"total_ios\": 244}}],\n"
		" \"disk_util\": [{\"name\": \"dm-0\", \"read_ios\": 452}, {\"name\": \"vda\"}]}\n";

	ok_near(value(&driver_fio, one, "read_requests"), 244, 0);
	ok_near(value(&driver_fio, one, "read_device_requests"), 452, 0);
	ok_near(value(&driver_fio, one, "write_device_requests"), 3, 0);
	ok_near(value(&driver_fio, none, "read_requests"), 244, 0);
	ok(isnan(value(&driver_fio, none, "read_device_requests")));
	ok(isnan(value(&driver_fio, two, "read_device_requests")));
}

static void relative_standard_error(void)
{
	static const double values[] = { 1, 9, 5, 5 };
	struct readings r = { 0 };
	unsigned int nr;

	for (unsigned int i = 0; i < 4; i++)
		readings_put(&r, i + 1, "a_s", values[i]);
	/* variance 32 / 3, mean 5 */
	ok_near(readings_rse(&r, "a_s", &nr), sqrt(32.0 / 3 / 4) / 5, 1e-15);
	ok_eq(nr, 4);
	ok_int(readings_put(&r, 1, "b", NAN), -34);
	ok(isnan(readings_rse(&r, "b", NULL)));
	readings_release(&r);
}

static void templates(void)
{
	struct params p = { 0 };
	struct err err = { 0 };
	char *out = NULL;

	ok_int(params_set(&p, "size", "64m", false, &err), 0);
	ok_int(params_set(&p, "pattern", "random", false, &err), 0);
	ok_int(params_expand_text(&p, "{size / 16M} {pattern} {{x} ${y}", &out, &err), 0);
	ok_str(out ? out : "", "4 random {x} ${y}");
	free(out);
	ok(params_expand_text(&p, "{pattern + 1}", &out, &err) < 0);
	ok(params_expand_text(&p, "{size", &out, &err) < 0);
	params_release(&p);
}

static const struct tap_test tests[] = {
	{ "filebench's lines are read in base units", filebench_lines },
	{ "ffsb's lines are read in base units", ffsb_lines },
	{ "fio says how many requests the device got", fio_devices },
	{ "the relative standard error is s / (sqrt(k) mean)", relative_standard_error },
	{ "texts take values, words and braces", templates },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
