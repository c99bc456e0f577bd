/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpe_xml: reads the elements and attributes of a .qpe file; each error names element and line.
 *
 * Functions that return int return 0, or -EINVAL or -ENOMEM with a line in im->err. The strings
 * that are handed out belong to the importer and live as long as it does.
 */
#ifndef ANALYZER_QPE_XML_H
#define ANALYZER_QPE_XML_H

#include <libxml/tree.h>
#include <stdbool.h>

#include "analyzer/models/net/net.h"

#define QPE_NAME_BYTES 256
#define QPE_PATH_BYTES (2 * QPE_NAME_BYTES + 64)

/*
 * This struct says what an identifier of the file stands for. For a subnet and its colours, index
 * is where tokens enter and output where they leave, or NET_NONE where they do not; otherwise both
 * are the same.
 */
struct qpe_named {
	const char *id; /* the importer's */
	uint32_t index, output;
};

struct qpe_names {
	struct qpe_named *items;
	uint32_t nr;
	size_t cap;
};

struct qpe_importer {
	struct net *net;
	struct err *err;
	struct qpe_names colours, queues, places, slots;
	char prefix[QPE_NAME_BYTES]; /* "outer/inner/" while subnets are read */
	const struct net_setting *settings;
	size_t nr_settings;
	/*
	 * The names of the numbers that are read now begin with this text, such as "queue.cpu". ""
	 * means that they have no name.
	 */
	char path[QPE_PATH_BYTES];
	char **parameters; /* owned: the names of all numbers that can be set */
	size_t nr_parameters, cap_parameters;
	xmlChar **texts; /* owned: every attribute that was read */
	size_t nr_texts, cap_texts;
};

int qpe_fail(const struct qpe_importer *im, const xmlNode *at, const char *what,
	     const char *detail);
int qpe_out_of_memory(const struct qpe_importer *im);

/* Frees what the importer owns, except its net. */
void qpe_release(struct qpe_importer *im);
/*
 * Adds an entry for the attribute "id" of the node. A second entry with the same id is an error.
 */
int qpe_add_id(struct qpe_importer *im, const xmlNode *node, struct qpe_names *n, uint32_t index,
	       uint32_t output);
/* Returns NULL, or NET_NONE, where there is no such entry. */
const struct qpe_named *qpe_find(const struct qpe_names *n, const char *id);
uint32_t qpe_find_name(const struct qpe_names *n, const char *id);

unsigned qpe_line(const xmlNode *node);
bool qpe_is(const xmlNode *node, const char *name);
/* Returns the first child element of the name, or NULL. */
const xmlNode *qpe_child(const xmlNode *node, const char *name);
/*
 * Returns the next element from c on, or NULL at the end, of a container that may hold only `name`.
 */
int qpe_each(struct qpe_importer *im, const xmlNode *c, const char *name, const xmlNode **out);
/* Calls read() for every element `name` of the child `container`, which may be absent. */
int qpe_read_all(struct qpe_importer *im, const xmlNode *parent, const char *container,
		 const char *name, int (*read)(struct qpe_importer *, const xmlNode *));
/* Refuses child elements that are not among names (ended by NULL). */
int qpe_allow(struct qpe_importer *im, const xmlNode *parent, const char *const *names);

/* Sets *value to NULL where there is no such attribute. */
int qpe_attribute(struct qpe_importer *im, const xmlNode *node, const char *name,
		  const char **value);
/* Return an attribute that must exist, and xsi:type. */
int qpe_need(struct qpe_importer *im, const xmlNode *node, const char *name, const char **value);
/* Reads an attribute that must be one of the words (ended by NULL) into its index. */
int qpe_need_word(struct qpe_importer *im, const xmlNode *node, const char *name,
		  const char *const *words, uint32_t *index);
/* Reads the attribute "name", preceded by the names of the subnets that contain it. */
int qpe_need_name(struct qpe_importer *im, const xmlNode *node, char name[QPE_NAME_BYTES]);
int qpe_need_number(struct qpe_importer *im, const xmlNode *node, const char *name, double *value);
int qpe_need_type(struct qpe_importer *im, const xmlNode *node, const char **type);
/* Reads a finite number, or fallback where the attribute is absent or empty. */
int qpe_number(struct qpe_importer *im, const xmlNode *node, const char *name, double fallback,
	       double *value);
/* Reads a whole number from 0 to high, as qpe_number() reads a finite number. */
int qpe_count(struct qpe_importer *im, const xmlNode *node, const char *name, double fallback,
	      double high, uint32_t *value);

/*
 * Names the numbers that are read from now on: PATH.ATTRIBUTE, until qpe_path_end(). A name that is
 * too long is cut.
 */
void qpe_path(struct qpe_importer *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void qpe_path_end(struct qpe_importer *im);
/*
 * Remembers that this number can be set, and replaces *value if the settings contain the number.
 * *set receives whether they do; set may be NULL.
 */
int qpe_parameter(struct qpe_importer *im, const char *attribute, double *value, bool *set);
/* Returns whether the settings have a value for this number. */
bool qpe_is_set(const struct qpe_importer *im, const char *attribute);
/*
 * Refuses a setting of a number that the file does not have, with a list of what there is, and one
 * of a name that several numbers have.
 */
int qpe_check_settings(struct qpe_importer *im);

/*
 * The functions below are in qpe_import.c, qpe_places.c and qpe_transitions.c; each reads one
 * element into the net.
 */
/* Finds the colour that the attribute "color-id" of the node names. */
int qpe_need_colour(struct qpe_importer *im, const xmlNode *node, uint32_t *colour);
int qpe_read_colour(struct qpe_importer *im, const xmlNode *node);
int qpe_read_place(struct qpe_importer *im, const xmlNode *node);
int qpe_read_transition(struct qpe_importer *im, const xmlNode *node);

#endif
