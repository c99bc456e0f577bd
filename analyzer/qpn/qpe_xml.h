/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpe_xml: reading the elements and attributes of a .qpe, each error with element and line.
 *
 * Functions that return int give 0, or -EINVAL or -ENOMEM with a line in im->err. Strings handed
 * out are the caller's to free().
 */
#ifndef ANALYZER_QPE_XML_H
#define ANALYZER_QPE_XML_H

#include <libxml/tree.h>
#include <stdbool.h>

#include "analyzer/qpn/net.h"

/* What an identifier of the file stands for. */
struct qpe_named {
	char *id; /* owned */
	uint32_t index;
};

struct qpe_names {
	struct qpe_named *items;
	uint32_t nr, cap;
};

struct qpe_importer {
	struct net *net;
	struct err *err;
	struct qpe_names colours, queues, places, slots;
};

int qpe_fail(const struct qpe_importer *im, const xmlNode *at, const char *what,
	     const char *detail);
int qpe_out_of_memory(const struct qpe_importer *im);

void qpe_release_names(struct qpe_names *n);
/* Takes id over, also where it fails. */
int qpe_add_name(struct qpe_importer *im, struct qpe_names *n, char *id, uint32_t index);
/* NET_NONE where there is none. */
uint32_t qpe_find_name(const struct qpe_names *n, const char *id);

bool qpe_is(const xmlNode *node, const char *name);
/* The first child element of the name, or NULL. */
const xmlNode *qpe_child(const xmlNode *node, const char *name);
/* The next element from c on, NULL at the end, of a container that may hold nothing but `name`. */
int qpe_each(struct qpe_importer *im, const xmlNode *c, const char *name, const xmlNode **out);
/* read() for every element `name` of the child `container`, which may be absent. */
int qpe_read_all(struct qpe_importer *im, const xmlNode *parent, const char *container,
		 const char *name, int (*read)(struct qpe_importer *, const xmlNode *));
/* Refuses child elements that are not among names (ended by NULL). */
int qpe_allow(struct qpe_importer *im, const xmlNode *parent, const char *const *names);

/* An attribute that must be there; xsi:type. */
int qpe_need(struct qpe_importer *im, const xmlNode *node, const char *name, char **value);
int qpe_need_type(struct qpe_importer *im, const xmlNode *node, char **type);
/* A finite number; fallback where the attribute is absent or empty. */
int qpe_number(struct qpe_importer *im, const xmlNode *node, const char *name, double fallback,
	       double *value);
/* The same, whole, from 0 to high. */
int qpe_count(struct qpe_importer *im, const xmlNode *node, const char *name, double fallback,
	      double high, uint32_t *value);

#endif
