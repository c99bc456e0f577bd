/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_value: what the value of an option may be (struct cli_option): converts its text, checks
 * its bounds, and says in words what was expected.
 */
#ifndef ANALYZER_OPTION_VALUE_H
#define ANALYZER_OPTION_VALUE_H

#include "analyzer/cmd/cli/cli.h"

/*
 * Parses a value of kind CLI_KIND_UINT to CLI_KIND_TIME into out, which is a uint64_t for
 * CLI_KIND_UINT as well. Returns NULL, or a static string
 * that says what was expected; out is then untouched.
 */
const char *option_value_parse(enum cli_kind kind, const char *text, void *out);

/*
 * Stores the value of an option of one of these kinds, or of CLI_KIND_WORD. Returns false, and has
 * appended what was expected to the words, where the text is no such value or out of bounds.
 */
bool option_value_store(const struct cli_option *o, const char *text, struct buf *expected);
/* Appends the bounds of a number in words, " 2 to 100"; nothing where it has none. */
void option_value_bounds(const struct cli_option *o, struct buf *words);

#endif
