/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump: prints the requests of a selection, one a line, or the profiles that agents stored beside
 * them. Memory does not depend on the number of requests.
 */
#ifndef ANALYZER_EXCHANGE_DUMP_H
#define ANALYZER_EXCHANGE_DUMP_H

#include <stdio.h>

#include "analyzer/store/scan/selection_told.h"

enum dump_form { DUMP_TEXT, DUMP_CSV, DUMP_JSONL, NR_DUMP_FORMS };
extern const char *const dump_form_names[]; /* "text", "csv", "jsonl"; ended by NULL */

struct dump {
	const struct teller *teller;
	enum dump_form form; /* of requests; profiles are lines of JSON */
	bool profiles;	     /* the stored profiles instead of the requests */
	uint64_t most;	     /* no more requests than this; 0: all */
	FILE *out;
	bool is_empty; /* result: the selection has nothing that could be printed */
};

/*
 * Returns 0, or -errno with one line in err. It ends early where out cannot be written, which the
 * caller finds in ferror(out).
 */
int dump_print(struct dump *d, struct selection *sel, struct err *err);

#endif
