/* SPDX-License-Identifier: Apache-2.0 */
/* option_value: converts the text of an option's value. */
#ifndef ANALYZER_OPTION_VALUE_H
#define ANALYZER_OPTION_VALUE_H

#include "analyzer/cmd/cli/cli.h"

/*
 * Parses a value of kind CLI_KIND_U64 to CLI_KIND_TIME into out. Returns NULL, or a static string
 * that says what was expected; out is then untouched.
 */
const char *option_value_parse(enum cli_kind kind, const char *text, void *out);

#endif
