/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origins: says where the loads, models and measurements of an answer come from: host, device, file
 * system and period. A page shows these lines at its foot (page_shell.h).
 *
 * A recording contains its host, device and period. A measurement campaign contains the device, the
 * file system and the scheduler of each target, and a model that was made from a campaign keeps the
 * same words in its file (`origin` in formats/model.md). A model that was made from a plain table
 * says nothing about its storage, and its line says so.
 *
 *	ret = origins_loads(cli->maker.origins, path, &set, 0, cli->utc);
 *	if (!ret)
 *		ret = origins_model(cli->maker.origins, "read.json", err);
 */
#ifndef ANALYZER_ORIGINS_H
#define ANALYZER_ORIGINS_H

#include <jansson.h>

#include "analyzer/answer/page_shell.h"
#include "analyzer/characterize/profile_set.h"
#include "base/text/err.h"

/*
 * Adds a line for each group of the set from number `from` on. path is the file from which the set
 * was read. Returns 0 or -ENOMEM.
 */
int origins_loads(struct page_origins *o, const char *path, const struct profile_set *set,
		  size_t from, bool utc);
/* Adds a line on a model file of any kind. Returns 0, or the errors of model_file_read(). */
int origins_model(struct page_origins *o, const char *path, struct err *err);
/*
 * Adds a line on a campaign; campaign may be NULL where the store has only one. Returns 0, or the
 * errors of results_origin().
 */
int origins_campaign(struct page_origins *o, const char *db, const char *campaign, struct err *err);
/* Adds a line on the rows of a model: of a campaign where db is not NULL, otherwise of a table. */
int origins_rows(struct page_origins *o, const char *table, const char *db, const char *campaign,
		 struct err *err);
/* Gives a model that continues another one the words of that model's file. */
int origins_carry(json_t *model, const char *old_path, struct err *err);
/*
 * Puts the words about a campaign into the JSON of a model that is made from it. A db of NULL
 * changes nothing.
 */
int origins_keep(json_t *model, const char *db, const char *campaign, struct err *err);

#endif
