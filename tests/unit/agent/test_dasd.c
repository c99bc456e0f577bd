/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "agent/guest/dasd.h"
#include "base/memory/buf.h"
#include "tests/support/tap.h"

/* In the order and with the names that dasd_stats_seq_print() has. */
static const char *const lines[] = {
	"start_time 1318428042.018474510",
	"total_requests 5000",
	"total_sectors 400000",
	"total_pav 1200",
	"total_hpf 4900",
	"histogram_sectors",
	"histogram_io_times",
	"histogram_io_times_weighted",
	"histogram_time_build_to_ssch",
	"histogram_time_ssch_to_irq",
	"histogram_time_ssch_to_irq_weighted",
	"histogram_time_irq_to_end",
	"histogram_ccw_queue_length",
	"total_read_requests 3000",
	"total_read_sectors 240000",
	"total_read_pav 700",
	"total_read_hpf 2950",
	"histogram_read_sectors",
	"histogram_read_times",
	"histogram_read_time_build_to_ssch",
	"histogram_read_time_ssch_to_irq",
	"histogram_read_time_irq_to_end",
	"histogram_read_ccw_queue_length",
};

static void statistics(struct buf *out)
{
	for (size_t i = 0; i < TAP_NR(lines); i++) {
		buf_printf(out, "%s", lines[i]);
		for (int k = 0; !strncmp(lines[i], "histogram", 9) && k < DASD_BUCKETS; k++)
			buf_printf(out, " %zu", k == 5 ? 100 + i : 0);
		buf_printf(out, " \n");
	}
	buf_put_u8(out, 0);
}

static json_int_t whole(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void every_value(void)
{
	struct buf text = { 0 };
	char *json = NULL;
	json_t *o;

	statistics(&text);
	ok_int(dasd_parse(&json, (const char *)text.data, NULL), 0);
	o = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	ok_eq(json_object_size(o), TAP_NR(lines));
	ok_near(json_number_value(json_object_get(o, "start_s")), 1318428042.018474510, 1e-6);
	ok_int(whole(o, "requests"), 5000);
	ok_int(whole(o, "pav"), 1200);
	ok_int(whole(o, "hpf"), 4900);
	ok_int(whole(o, "read_requests"), 3000);
	ok_int(whole(o, "read_hpf"), 2950);
	for (size_t i = 0; i < TAP_NR(lines); i++) {
		const json_t *h = json_object_get(o, lines[i]);

		if (strncmp(lines[i], "histogram", 9))
			continue;
		ok_eq(json_array_size(h), DASD_BUCKETS);
		ok_eq(json_integer_value(json_array_get(h, 5)), 100 + i);
	}
	json_decref(o);
	free(json);
	buf_release(&text);
}

static void refused(void)
{
	static const struct {
		const char *text;
		int ret;
		const char *says;
	} bad[] = {
		{ "disabled\n", -ENODATA, "off" },
		{ "", -EINVAL, "total_requests" },
		{ "total_requests\n", -EINVAL, "line 1" },
		{ "total_requests x\n", -EINVAL, "line 1" },
		{ "total_requests 1\nhistogram_sectors 1 2 3\n", -EINVAL, "line 2" },
		{ "Statistics are off - they might be switched on using\n", -EINVAL, "line 1" },
	};
	char *json = NULL;

	for (size_t i = 0; i < TAP_NR(bad); i++) {
		struct err err = { 0 };

		ok_int(dasd_parse(&json, bad[i].text, &err), bad[i].ret);
		ok(strstr(err.line, bad[i].says) != NULL);
		ok(json == NULL);
	}
	/* a value that later kernels add is passed over */
	ok_int(dasd_parse(&json, "total_requests 1\nnew_value 3\n", NULL), 0);
	ok_str(json, "{\"requests\":1}");
	free(json);
}

static void of_a_root(void)
{
	static const char *const folders[] = { "sys",
					       "sys/kernel",
					       "sys/kernel/debug",
					       "sys/kernel/debug/dasd",
					       "sys/kernel/debug/dasd/dasda",
					       "sys/kernel/debug/dasd/dasdb" };
	char root[] = "/tmp/blkcast-dasd.XXXXXX", path[PATH_MAX];
	struct buf text = { 0 };
	struct profile p;
	struct err err = { 0 };
	FILE *f;

	ok(mkdtemp(root) != NULL);
	for (size_t i = 0; i < TAP_NR(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		ok_int(mkdir(path, 0755), 0);
	}
	statistics(&text);
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/dasd/dasda/statistics", root);
	f = fopen(path, "w");
	fputs((const char *)text.data, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/dasd/dasdb/statistics", root);
	f = fopen(path, "w");
	fputs("disabled\n", f);
	fclose(f);
	profile_init(&p);
	ok_int(dasd_detail(&p, root, "dasda", &err), 0);
	ok(p.source_detail && strstr(p.source_detail, "{\"dasd\":{") != NULL);
	ok(strstr(p.source_detail, "\"pav\":1200") != NULL);
	profile_release(&p);
	ok_int(dasd_detail(&p, root, "dasdb", &err), -ENODATA);
	ok_int(dasd_detail(&p, root, "dasdc", &err), -ENOENT);
	ok_int(dasd_detail(&p, root, "sda", &err), -ENOENT);
	ok_int(dasd_detail(&p, root, "dasd/../dasda", &err), -ENOENT);
	ok(p.source_detail == NULL);
	profile_release(&p);
	buf_release(&text);
	snprintf(path, sizeof(path), "rm -rf %s", root);
	ok_int(system(path), 0);
}

static const struct tap_test tests[] = {
	{ "every value of the driver's statistics is read", every_value },
	{ "statistics that are off, or none, are told apart", refused },
	{ "a disk's statistics get into its profile, others get none", of_a_root },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
