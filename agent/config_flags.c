/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config_keys.h"
#include "base/text/word_list.h"
#include "formats/segment/segment_word.h"

/* The options that are not keys of the file. */
enum {
	FLAG_CONFIG,
	FLAG_TOP,
	FLAG_NO_TRACE,
	FLAG_DOCTOR,
	FLAG_JSON,
	FLAG_SHOW_WHAT_LEAVES,
	FLAG_VERSION,
	FLAG_HELP,
	NR_FLAGS
};

/*
 * getopt_long returns this value. The offset keeps it apart from '?' and ':'. The keys of the file
 * follow the flags.
 */
#define VAL(flag)    ((flag) + 256)
#define KEYS_MAX     64
#define OPTIONS_MAX  (NR_FLAGS + KEYS_MAX)
#define KEY_VAL(key) VAL(NR_FLAGS + (int)(key))

static const struct option own_options[NR_FLAGS] = {
	{ "config", required_argument, NULL, VAL(FLAG_CONFIG) },
	{ "top", no_argument, NULL, VAL(FLAG_TOP) },
	{ "no-trace", no_argument, NULL, VAL(FLAG_NO_TRACE) },
	{ "doctor", no_argument, NULL, VAL(FLAG_DOCTOR) },
	{ "json", no_argument, NULL, VAL(FLAG_JSON) },
	{ "show-what-leaves", no_argument, NULL, VAL(FLAG_SHOW_WHAT_LEAVES) },
	{ "version", no_argument, NULL, VAL(FLAG_VERSION) },
	{ "help", no_argument, NULL, VAL(FLAG_HELP) },
};

/* Fills in the options above and those that are keys of the file. A zeroed option ends the list. */
static void config_flags_options(struct option options[OPTIONS_MAX + 1])
{
	size_t nr = NR_FLAGS;

	memset(options, 0, (OPTIONS_MAX + 1) * sizeof(*options));
	memcpy(options, own_options, sizeof(own_options));
	for (size_t i = 0; config_table.fields[i].name && i < KEYS_MAX; i++) {
		const struct field *f = &config_table.fields[i];

		if (f->settable)
			options[nr++] = (struct option){ f->name,
							 f->type == FIELD_FLAG ? no_argument
									       : required_argument,
							 NULL, KEY_VAL(i) };
	}
}

static const char help_text[] =
	"blkcast-agent: traces the block I/O of this machine and characterizes it live\n"
	"\n"
	"  blkcast-agent --device sda --top            watch one disk\n"
	"  blkcast-agent --top 5 3                     three rows, five seconds each\n"
	"  blkcast-agent --device sda --sink file:/srv/traces\n"
	"                                              record; blkcast ls --store /srv/traces\n"
	"  blkcast-agent --sink https://collector:7118 --tls-ca ca.crt --token-file token\n"
	"                                              stream to an analyzer over TLS\n"
	"\n"
	"What is traced\n"
	"  --device NAME[,NAME] disks, as sda or 8:0 (default: every disk)\n"
	"  --cgroup PATH        only I/O of this cgroup; again for more\n"
	"  --layer LAYER        device (requests, the default) or queue (bios)\n"
	"  --source SOURCE      auto (default), bpf, blktrace, tracefs or diskstats\n"
	"  --fileset DIR        files the workload works on; again for more (default: the\n"
	"                       files that processes doing I/O hold open)\n"
	"  --leave-out-own      do not count the agent's own requests\n"
	"  --max-overhead PERCENT\n"
	"                       of one CPU, agent and kernel side together: above it first the\n"
	"                       trace is shed, then all but counters (default: no bound)\n"
	"  --window TIME        period of one profile (default: 1s)\n"
	"  --duration TIME      end after this time (default: at SIGINT or SIGTERM)\n"
	"\n"
	"Where it goes (default: --top on a terminal, else --sink stdout:)\n"
	"  --sink file:DIR      a store on disk\n"
	"  --sink http://HOST:PORT\n"
	"                       an analyzer, `blkcast serve`, through the spool\n"
	"  --sink https://HOST:PORT\n"
	"                       the same, encrypted; plain http is for loopback\n"
	"  --tls-ca FILE        who signs the analyzer's certificate (default: the system's)\n"
	"  --tls-cert FILE, --tls-key FILE\n"
	"                       this host's certificate; its name is the host's\n"
	"  --token-file FILE    or this host's token\n"
	"  --proxy URL          by this proxy (default: none, whatever the environment says)\n"
	"  --insecure           plain http to other addresses than loopback\n"
	"  --sink stdout:       one profile a line, as JSON\n"
	"  --no-trace           profiles only, no requests\n"
	"  --spool DIR          what an analyzer has not taken yet\n"
	"                       (default: " CONFIG_SPOOL ")\n"
	"  --spool-bytes SIZE   its bound (default: 1GiB)\n"
	"  --spool-drop WHICH   what goes when it is full: oldest (default) or newest\n"
	"  --hindsight TIME     keep requests back so long; where nobody asks, profiles alone go\n"
	"  --hindsight-p99 TIME a window whose p99 is above it asks, as SIGUSR1 does\n"
	"  --least-sample PERCENT\n"
	"                       windows whose requests go whatever an analyzer's policy says (default: 0)\n"
	"  --segment-interval TIME\n"
	"                       longest wait before requests are sent (default: 5s)\n"
	"  --host NAME          name of this machine in the trace (default: its host name)\n"
	"  --anonymize FILE     hide names and offsets by the key in this file, as blkcast redact does\n"
	"  --show-what-leaves   print each field that would leave this machine with an example, send\n"
	"                       nothing\n"
	"  --listen [ADDR:]PORT serve /metrics; without ADDR on loopback only\n"
	"  --top [INTERVAL [COUNT]]\n"
	"                       show devices live; keys: d devices, t times, p processes, c cgroups,\n"
	"                       q quits; rows where not on a terminal or in its background\n"
	"\n"
	"What it may do\n"
	"  --see-files          keep the right to see the files of all users (default: the\n"
	"                       files of processes of the agent's own user alone are counted)\n"
	"  --seccomp on|log|off system calls that are not in its lists fail (default), are\n"
	"                       written to the kernel's audit log, or pass\n"
	"\n"
	"  --config FILE        these options as YAML, `window: 1s`, `device: [sda, sdb]`\n"
	"  --doctor [--json]    say what this machine offers, and why a source is chosen\n"
	"  --verbose            log more\n"
	"  --version, --help\n"
	"\n"
	"Exit status: 0 done, 1 the work failed, 2 bad usage or bad input.\n";

void config_print_help(FILE *out)
{
	fputs(help_text, out);
}

/*
 * Reports a wrong option in one line that says what was expected, in place of getopt's own message.
 */
static int config_flags_complain(const struct option *options, char *const *argv, int got,
				 struct err *err)
{
	const char *words[OPTIONS_MAX + 1] = { NULL };
	const char *text = argv[optind - 1];
	char name[64];
	const char *nearest;

	if (got == ':')
		return err_set(err, EINVAL, "%s: expected a value behind it", text);
	if (strncmp(text, "--", 2))
		return err_set(err, EINVAL, "%s: unknown option: --help lists them", text);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text + 2, "="), text + 2);
	for (size_t i = 0; options[i].name; i++) {
		words[i] = options[i].name;
		if (!strcmp(name, words[i]))
			return err_set(err, EINVAL, "--%s: expected no value behind it", name);
	}
	nearest = word_list_nearest(name, words);
	if (!nearest)
		return err_set(err, EINVAL, "--%s: unknown option: --help lists them", name);
	return err_set(err, EINVAL, "--%s: unknown option: did you mean --%s?", name, nearest);
}

static int config_flags_apply(struct config *c, int flag, bool given[KEYS_MAX], struct err *err)
{
	const struct field *f;
	struct config_list *list;

	switch (flag) {
	case FLAG_CONFIG: /* read before all others */
		return 0;
	case FLAG_TOP:
		c->top = true;
		return 0;
	case FLAG_NO_TRACE:
		c->has_trace = false;
		return 0;
	case FLAG_DOCTOR:
		c->doctor = true;
		return 0;
	case FLAG_JSON:
		c->json = true;
		return 0;
	case FLAG_SHOW_WHAT_LEAVES:
		c->show_what_leaves = true;
		return 0;
	case FLAG_VERSION:
		c->version = true;
		return 0;
	case FLAG_HELP:
		c->help = true;
		return 0;
	default:
		break;
	}
	f = &config_table.fields[flag - NR_FLAGS];
	list = config_list_of(c, f);
	if (list && !given[flag - NR_FLAGS])
		config_list_clear(list);
	given[flag - NR_FLAGS] = true;
	return config_set(c, f, optarg, err);
}

/* Reads the options once, either only for the name of the file or for everything else. */
static int config_flags_walk(struct config *c, int argc, char *const *argv, bool for_file,
			     const char **file, struct err *err)
{
	struct option options[OPTIONS_MAX + 1];
	bool given[KEYS_MAX] = { false };
	int got, ret = 0;

	config_flags_options(options);
	optind = 0; /* GNU getopt then begins anew. */
	opterr = 0;
	while (!ret && (got = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
		if (got == 'h')
			c->help = true;
		else if (got < VAL(0))
			ret = config_flags_complain(options, argv, got, err);
		else if (for_file && got == VAL(FLAG_CONFIG))
			*file = optarg;
		else if (!for_file)
			ret = config_flags_apply(c, got - VAL(0), given, err);
		/* --top takes its two numbers from the arguments that follow it. */
		while (!ret && got == VAL(FLAG_TOP) && optind < argc && argv[optind][0] != '-' &&
		       !c->top_count) {
			uint64_t *to = c->top_interval_ns ? &c->top_count : &c->top_interval_ns;
			char *end;

			if (to == &c->top_interval_ns)
				ret = config_time(argv[optind], to);
			else
				*to = strtoull(argv[optind], &end, 10);
			if (ret || (to == &c->top_count && (*end || !*to)))
				ret = err_set(err, EINVAL,
					      "--top: expected [INTERVAL [COUNT]], got '%s'",
					      argv[optind]);
			optind++;
		}
		if (for_file)
			c->top_interval_ns = c->top_count = 0;
	}
	if (ret)
		return ret;
	if (optind < argc)
		ret = err_set(err, EINVAL, "%s: expected an option: --help lists them",
			      argv[optind]);
	return ret;
}

/*
 * Checks the host name that the system has. A name that the user gave was checked when it was read.
 */
static int check_host(const struct config *c, struct err *err)
{
	struct err why = { 0 };

	if (!c->sinks.nr || !segment_word_check("host", c->host, &why))
		return 0;
	return err_set(err, EINVAL, "%s, the system's own name: give another by --host", why.line);
}

static int check_together(const struct config *c, struct err *err)
{
	const char *takes_traces = NULL;
	bool has_stdout = false;

	if (c->json)
		return err_set(err, EINVAL, "--json: expected with --doctor");
	for (size_t i = 0; i < c->sinks.nr; i++) {
		if (!strncmp(c->sinks.items[i], "stdout:", 7))
			has_stdout = true;
		else
			takes_traces = c->sinks.items[i];
	}
	if (c->hindsight_p99_ns && !c->hindsight_ns)
		return err_set(err, EINVAL, "--hindsight-p99: expected with --hindsight");
	if (has_stdout && c->top)
		return err_set(err, EINVAL,
			       "--top and --sink stdout: both write to standard output: "
			       "expected one of them");
	if (!c->has_trace && takes_traces)
		return err_set(err, EINVAL,
			       "--no-trace: --sink %s takes traces: expected no sink but stdout:, "
			       "--top or --listen",
			       takes_traces);
	return check_host(c, err);
}

int config_parse(struct config *c, int argc, char *const *argv, struct err *err)
{
	const char *file = NULL;
	int ret = config_init(c);

	if (ret)
		return err_set(err, ENOMEM, "no memory");
	ret = config_flags_walk(c, argc, argv, true, &file, err);
	if (ret)
		return ret;
	if (file && !c->help && !c->version)
		ret = config_read_file(c, file, err);
	if (ret)
		return ret;
	ret = config_flags_walk(c, argc, argv, false, &file, err);
	if (ret)
		return ret;
	if (!c->help && !c->version && !c->doctor)
		ret = check_together(c, err);
	return ret;
}
