/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder_replace: store_replace() where the store is a folder. The summary's file is durable before
 * others go.
 */
#ifndef ANALYZER_FOLDER_REPLACE_H
#define ANALYZER_FOLDER_REPLACE_H

#include "analyzer/store/store_replace.h"

int folder_replace(struct store *s, const struct store_replacement *r, struct err *err);

#endif
