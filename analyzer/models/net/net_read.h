/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_read: declarations that the parts of the reader of YAML nets share. Users need net.h only.
 *
 * Each function returns 0, or -EINVAL or -ENOMEM with "FILE:LINE: what" in r->err. The context of
 * every hook is a struct net_reader.
 */
#ifndef ANALYZER_NET_READ_H
#define ANALYZER_NET_READ_H

#include "analyzer/models/net/expr.h"
#include "analyzer/models/net/net.h"
#include "base/data/fields.h"

#define NET_READ_NAME_BYTES  256
#define NET_READ_MAX_SUBNETS 64

struct net_read_subnet {
	char name[NET_READ_NAME_BYTES];
	uint32_t input, output; /* places */
};

struct net_reader {
	struct net *net;
	struct expr_scope scope;
	const struct net_setting *settings;
	size_t nr_settings;
	struct net_read_subnet subnets[NET_READ_MAX_SUBNETS];
	size_t nr_subnets;
	/* prefix of names in the subnet that is being read: "" or "S/" */
	char prefix[NET_READ_NAME_BYTES];
};

/* This field reads a number, or an expression over the parameters. */
extern const struct field net_number;
/* The first field reads names and transitions; the second one reads names and probes. */
extern const struct field net_transitions, net_probes;

/* Returns the name with the prefix. */
int net_read_full_name(const struct fields_reader *r, const struct yaml_node *at, const char *name,
		       char out[NET_READ_NAME_BYTES]);
int net_read_find_colour(const struct fields_reader *r, const struct yaml_node *at,
			 const char *name, uint32_t *colour);
/* Finds the place of a name. For a subnet this is its output (to take from) or its input. */
int net_read_resolve(const struct fields_reader *r, const struct yaml_node *at, const char *name,
		     bool take, uint32_t *place);

#endif
