// SPDX-License-Identifier: Apache-2.0
/* This file holds the texts that blkcast study VERB --help prints. */
#include "analyzer/cmd/questions/study_verbs.h"

#define STUDY_PREDICTED                                                                                        \
	"It is predicted by models of read_s and write_s (blkcast fit), by a calibrated net (blkcast qpn\n"    \
	"calibrate), or from a measurement store; with --run stored requests are replayed on the target, or\n" \
	"mimics of profiles are run there. A device in use is refused, and one that carries something or a\n"  \
	"file that exists is taken only where --overwrite names it again."
#define STUDY_SIMULATED                                                                                     \
	"With --storage the stored requests are simulated, by what each had waited for, on a device that\n" \
	"blkcast storage calibrate has made of a campaign; percentiles and flushes are answered, too.\n"
#define STUDY_BY "(--storage DEVICE.json | --model M.json,... | --db FILE | --run PATH)"

const struct command study_helps[] = {
	[VERB_MIGRATE] = { .name = "study",
			   .summary = "migrate: response times of loads on another target",
			   .usage = "migrate PROFILE... " STUDY_BY,
			   .example = "blkcast study migrate before.json --db new.sqlite --report "
				      "migration.html",
			   .details =
				   "Each load alone on the target, beside its response times where it "
				   "was characterized.\n" STUDY_SIMULATED STUDY_PREDICTED },
	[VERB_CONSOLIDATE] = { .name = "study",
			       .summary =
				       "consolidate: response times of loads that share a target",
			       .usage = "consolidate PROFILE PROFILE... " STUDY_BY,
			       .example = "blkcast study consolidate a.json b.json --run /mnt/new",
			       .details =
				       "All of the loads at once, beside each alone there, and when "
				       "their peaks coincided.\n" STUDY_SIMULATED STUDY_PREDICTED },
	[VERB_INTERFERENCE] = { .name = "study",
				.summary = "interference: what neighbours do to the first load",
				.usage = "interference PROFILE NEIGHBOUR... " STUDY_BY,
				.example =
					"blkcast study interference a.json b.json --model m.json "
					"--sizes 4k,64k --reads 0,100",
				.details =
					"The first load alone there, and beside each of the others, or "
					"over the sizes and mixes of one.\n" STUDY_SIMULATED
						STUDY_PREDICTED },
	[VERB_SCENARIO] = { .name = "study",
			    .summary = "scenario: files that change what is, side by side",
			    .usage = "scenario SCENARIO.yaml... [--storage [NAME=]DEVICE.json,...] "
				     "[--report FILE.html]",
			    .example = "blkcast study scenario docs/examples/scenarios/today.yaml "
				       "docs/examples/scenarios/growth.yaml",
			    .details =
				    "Scenarios (docs/scenario.schema.json) add, scale, migrate, swap, "
				    "cache and remove loads and targets.\nThe first one is the baseline. A storage is "
				    "models, a measurement store, or a simulated device, on\nwhich stored requests "
				    "are run; exit status 1 where such a device serves less than its VMs offer." },
	[VERB_CACHE] = { .name = "study",
			 .summary = "cache: what a cache in front of the target is worth",
			 .usage =
				 "cache PROFILE... [--size SIZE] [--hits PERCENT] [--hit-time TIME]\n"
				 "cache PROFILE... --hit-time TIME (--model M.json,... | --db FILE | "
				 "--storage DEVICE.json) [--slo OBJECTIVE,...]",
			 .example = "blkcast study cache docs/examples/demo.seg --hit-time 10us",
			 .details = "By the miss-ratio curve of each load." },
	[VERB_MIX] = { .name = "study",
		       .summary = "mix: how many of these loads fit together",
		       .usage =
			       "mix PROFILE[=COUNT]... [--slo OBJECTIVE,... --db FILE] [--measure "
			       "SIZE:read=N,...]\n"
			       "mix RECORDING[=COUNT]... --slo OBJECTIVE,... --storage DEVICE.json",
		       .example = "blkcast study mix docs/examples/demo.seg --measure "
				  "4k:read=20000,write=5000 --measure 64k:read=4000,write=1600",
		       .details =
			       "Every load must also get the requests that it offers. Exit status "
			       "1 where nothing fits; 3 where by\nmodels nothing fits because the "
			       "target cannot carry the loads, where the mix that fits lies\noutside "
			       "what the model knows, or where the mix has more stored requests than "
			       "are simulated." },
};
