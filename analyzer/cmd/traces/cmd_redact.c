/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/exchange/whole_segments.h"
#include "analyzer/store/store.h"
#include "formats/hide/redact.h"

static int cmd_redact_perform(struct cli *cli, const struct scan_filter *filter,
			      const char *key_file, struct whole_segments_counts *counts,
			      struct err *err)
{
	struct whole_segments from = { .filter = filter };
	struct pseudonym_key key = { .bytes = { 0 } };
	const char *in = cli->argv[0];
	struct redactor *r = NULL;
	struct stat st;
	int ret;

	if (store_is_folder(in) && stat(in, &st))
		return err_set(err, errno, "%s: %s", in, strerror(errno));
	if (!store_is_folder(in) || S_ISDIR(st.st_mode)) {
		from.store = in;
	} else {
		from.paths = &in;
		from.nr_paths = 1;
	}
	ret = key_file ? pseudonym_key_read(&key, key_file, err) : pseudonym_key_random(&key, err);
	if (ret)
		goto out;
	if (redactor_new(&r, &key))
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret)
		goto out;
	ret = whole_segments_write_file(&from, r, cli->argv[1], counts, err);
out:
	redactor_free(r);
	pseudonym_key_forget(&key);
	return ret;
}

static int cmd_redact_run(struct cli *cli)
{
	const char *key_file = NULL;
	struct word_list hosts = { .nr = 0 };
	uint64_t begin_ns = 0, end_ns = 0;
	const struct cli_option options[] = {
		CLI_STRING("key", 'k', "FILE", &key_file,
			   "a secret of 16 bytes or more; without it one that nobody gets to know"),
		CLI_LIST("host", 0, "HOST,...", &hosts, "only of these hosts"),
		CLI_TIME("begin", 0, "TIME", &begin_ns,
			 "only segments that touch the time from it"),
		CLI_TIME("end", 0, "TIME", &end_ns, "only segments that touch the time before it"),
		CLI_OPERANDS(2, 2, "IN, a store or a segment file, and OUT, a file"),
		CLI_END,
	};
	struct whole_segments_counts counts = { 0 };
	struct scan_filter filter = { .hosts = NULL };
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (end_ns && end_ns <= begin_ns)
		return cli_usage(cli, "--end: expected a time after --begin");
	filter.hosts = hosts.items;
	filter.nr_hosts = hosts.nr;
	filter.begin_real_ns = begin_ns;
	filter.end_real_ns = end_ns;
	ret = cmd_redact_perform(cli, &filter, key_file, &counts, &err);
	if (ret)
		return cli_finish(cli, ret, &err, CLI_DONE);
	if (cli->json)
		printf("{\"schema\":\"blkcast.redact/1\",\"segments\":%" PRIu64
		       ",\"requests\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"linkable\":%s}\n",
		       counts.nr_segments, counts.nr_requests, counts.bytes,
		       key_file ? "true" : "false");
	else
		cli_note(cli, "%" PRIu64 " segments, %" PRIu64 " requests", counts.nr_segments,
			 counts.nr_requests);
	return CLI_DONE;
}

const struct command command_redact = {
	.name = "redact",
	.summary = "a trace with its names and offsets hidden, as one file to hand on",
	.usage = "[--key FILE] [--host HOST,...] [--begin TIME] [--end TIME] IN OUT",
	.example = "openssl rand -hex 32 >key; chmod 600 key\n"
		   "blkcast redact --key key traces redacted.blkseg\n"
		   "blkcast characterize redacted.blkseg",
	.details =
		"Keyed hashes (HMAC-SHA256) stand for hosts, boot ids, processes, cgroup paths part by\n"
		"part, and names of devices that the kernel did not give. Regions of each device (64 "
		"MiB, 1 MiB\non small ones) change places as the key says: distances, runs and reuse "
		"within a region\nsurvive, places on the device do not. Stored profiles lose their "
		"distribution of places.\nEverything else is kept: times, lengths, operations, flags, "
		"losses, numbers of threads and\ncgroups, sizes of devices. IN is a store or a file "
		"of segments. The same key gives the same\nnames, here and in `blkcast-agent "
		"--anonymize`.",
	.run = cmd_redact_run,
};
