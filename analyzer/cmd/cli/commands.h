/* SPDX-License-Identifier: Apache-2.0 */
/* commands: lists the commands of blkcast, one line each, in the order in which help shows them. */
#ifndef ANALYZER_COMMANDS_H
#define ANALYZER_COMMANDS_H

#include "analyzer/cmd/cli/cli.h"

/* clang-format off */
#define COMMANDS(X) \
	X(serve) \
	X(import) \
	X(ls) \
	X(check) \
	X(retain) \
	X(dump) \
	X(export) \
	X(redact) \
	X(characterize) \
	X(compare) \
	X(measure) \
	X(fit) \
	X(predict) \
	X(qpn) \
	X(storage) \
	X(capacity) \
	X(mimic) \
	X(study) \
	X(headroom) \
	X(arch) \
	X(report) \
	X(cluster) \
	X(ask) \
	X(policy)
/* clang-format on */

#define COMMAND_DECLARE(name) extern const struct command command_##name;
COMMANDS(COMMAND_DECLARE)

#endif
