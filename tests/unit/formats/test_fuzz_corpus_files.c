/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Like test_fuzz_corpus.c, of the targets whose decoders read files of an operator, of the agent or
 * of a store. They stand in a file of their own since gnutls.h and params.h name different things
 * alike.
 */
#include <stdlib.h>

#include "tests/support/fuzz_replay.h"
#include "tests/support/tap.h"

#define LLVMFuzzerTestOneInput fuzz_plan
#include "tests/fuzz/fuzz_plan.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_scenario
#include "tests/fuzz/fuzz_scenario.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_config
#include "tests/fuzz/fuzz_config.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_table
#include "tests/fuzz/fuzz_table.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_vscsi
#include "tests/fuzz/fuzz_vscsi.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_journal
#include "tests/fuzz/fuzz_journal.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_account
#include "tests/fuzz/fuzz_account.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_spool
#include "tests/fuzz/fuzz_spool.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_trace_format
#include "tests/fuzz/fuzz_trace_format.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_tokens
#include "tests/fuzz/fuzz_tokens.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_object_list
#include "tests/fuzz/fuzz_object_list.c"
#undef LLVMFuzzerTestOneInput

static void plans(void)
{
	fuzz_replay("tests/fuzz/corpus/plan", fuzz_plan);
}

static void scenarios(void)
{
	fuzz_replay("tests/fuzz/corpus/scenario", fuzz_scenario);
}

static void measurements(void)
{
	fuzz_replay("tests/fuzz/corpus/table", fuzz_table);
	fuzz_replay("tests/fuzz/corpus/vscsi", fuzz_vscsi);
}

static void agent_files(void)
{
	fuzz_replay("tests/fuzz/corpus/config", fuzz_config);
	fuzz_replay("tests/fuzz/corpus/account", fuzz_account);
	fuzz_replay("tests/fuzz/corpus/spool", fuzz_spool);
}

static void journals(void)
{
	fuzz_replay("tests/fuzz/corpus/journal", fuzz_journal);
}

static void trace_formats(void)
{
	fuzz_replay("tests/fuzz/corpus/trace_format", fuzz_trace_format);
}

static void token_files(void)
{
	fuzz_replay("tests/fuzz/corpus/tokens", fuzz_tokens);
}

static void object_lists(void)
{
	fuzz_replay("tests/fuzz/corpus/object_list", fuzz_object_list);
}

static const struct tap_test tests[] = {
	{ "the corpus of measurement plans does no harm", plans },
	{ "the corpus of scenarios does no harm", scenarios },
	{ "the corpora of measurement tables and histograms do no harm", measurements },
	{ "the corpora of the agent's configuration, account and spool do no harm", agent_files },
	{ "the corpus of journals does no harm", journals },
	{ "the corpus of trace event formats does no harm", trace_formats },
	{ "the corpus of token files does no harm", token_files },
	{ "the corpus of lists of a bucket does no harm", object_lists },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
