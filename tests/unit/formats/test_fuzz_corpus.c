/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every input that a fuzzer once found worth keeping, through the same code, at every test run;
 * test_fuzz_corpus_files.c has the rest.
 */
#include <stdlib.h>

#include "tests/support/fuzz_replay.h"
#include "tests/support/tap.h"

#define LLVMFuzzerTestOneInput fuzz_segment
#include "tests/fuzz/fuzz_segment.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_profile
#include "tests/fuzz/fuzz_profile.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_blktrace
#include "tests/fuzz/fuzz_blktrace.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_trace_page
#include "tests/fuzz/fuzz_trace_page.c"

#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_import
#define check		       check_import
#include "tests/fuzz/fuzz_import.c"
#undef check
#undef LLVMFuzzerTestOneInput

#define LLVMFuzzerTestOneInput fuzz_model
#define again		       again_model
#include "tests/fuzz/fuzz_model.c"
#undef again
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_storage_model
#include "tests/fuzz/fuzz_storage_model.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_storage_table
#include "tests/fuzz/fuzz_storage_table.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_net
#include "tests/fuzz/fuzz_net.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_qpe
#include "tests/fuzz/fuzz_qpe.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_pcm
#define write_file	       write_file_pcm
#include "tests/fuzz/fuzz_pcm.c"
#undef write_file
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_arch
#define run		       run_arch
#include "tests/fuzz/fuzz_arch.c"
#undef run
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_stoex
#include "tests/fuzz/fuzz_stoex.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_http
#include "tests/fuzz/fuzz_http.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_http_conversation
#include "tests/fuzz/fuzz_http_conversation.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_summary
#include "tests/fuzz/fuzz_summary.c"
#undef LLVMFuzzerTestOneInput

static void nets(void)
{
	fuzz_replay("tests/fuzz/corpus/net", fuzz_net);
	fuzz_replay("tests/fuzz/corpus/qpe", fuzz_qpe);
}

static void palladio(void)
{
	fuzz_replay("tests/fuzz/corpus/pcm", fuzz_pcm);
}

static void architectures(void)
{
	fuzz_replay("tests/fuzz/corpus/arch", fuzz_arch);
	fuzz_replay("tests/fuzz/corpus/stoex", fuzz_stoex);
}

static void segments(void)
{
	fuzz_replay("tests/fuzz/corpus/segment", fuzz_segment);
}

static void summaries(void)
{
	fuzz_replay("tests/fuzz/corpus/summary", fuzz_summary);
}

static void profiles(void)
{
	fuzz_replay("tests/fuzz/corpus/profile", fuzz_profile);
}

static void block_traces(void)
{
	fuzz_replay("tests/fuzz/corpus/blktrace", fuzz_blktrace);
}

static void imports(void)
{
	fuzz_replay("tests/fuzz/corpus/import", fuzz_import);
}

static void trace_pages(void)
{
	fuzz_replay("tests/fuzz/corpus/trace_page", fuzz_trace_page);
}

static void models(void)
{
	fuzz_replay("tests/fuzz/corpus/model", fuzz_model);
}

static void storage_models(void)
{
	fuzz_replay("tests/fuzz/corpus/storage_model", fuzz_storage_model);
	fuzz_replay("tests/fuzz/corpus/storage_table", fuzz_storage_table);
}

static void http_bodies(void)
{
	fuzz_replay("tests/fuzz/corpus/http", fuzz_http);
}

static void http_conversations(void)
{
	fuzz_replay("tests/fuzz/corpus/http_conversation", fuzz_http_conversation);
}

static const struct tap_test tests[] = {
	{ "the corpus of uploads does no harm", http_bodies },
	{ "the corpus of conversations with serve does no harm", http_conversations },
	{ "the corpus of nets does no harm", nets },
	{ "the corpus of Palladio models does no harm", palladio },
	{ "the corpus of software architectures and expressions does no harm", architectures },
	{ "the segment corpus does no harm", segments },
	{ "the corpus of summaries does no harm", summaries },
	{ "the profile corpus does no harm", profiles },
	{ "the block trace corpus does no harm", block_traces },
	{ "the corpus of foreign traces does no harm", imports },
	{ "the model corpus does no harm", models },
	{ "the corpora of storage models and their tables do no harm", storage_models },
	{ "the corpus of trace pages does no harm", trace_pages },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
