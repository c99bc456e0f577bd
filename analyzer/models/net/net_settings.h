/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_settings: values that a person gives to parameters of a net, and nets that are read with
 * them.
 *
 *	ret = net_settings_read(&settings, &words, &err);
 *	if (!ret)
 *		ret = net_open(&net, "mm1.yaml", &settings, &err);
 *	net_settings_release(&settings);
 */
#ifndef ANALYZER_MODELS_NET_NET_SETTINGS_H
#define ANALYZER_MODELS_NET_NET_SETTINGS_H

#include "analyzer/models/net/net.h"
#include "base/text/err.h"
#include "base/text/word_list.h"

#define NET_SETTINGS_MORE 8 /* settings beside those of words, such as a sweep's */

struct net_settings {
	struct net_setting items[WORD_LIST_MAX + NET_SETTINGS_MORE];
	char *names[WORD_LIST_MAX + NET_SETTINGS_MORE]; /* owned */
	size_t nr;
};

/*
 * Reads values, each NAME=VALUE. Returns 0, -EINVAL with a message that names the
 * value, or -ENOMEM. The caller releases s in every case.
 */
int net_settings_read(struct net_settings *s, const struct word_list *set, struct err *err);
/* Adds a value, which replaces an earlier one of that name. Returns 0 or -ENOMEM. */
int net_settings_add(struct net_settings *s, const char *name, double value);
void net_settings_release(struct net_settings *s);
/*
 * Reads a net from a YAML file or from a .qpe file of QPME, with these values. Returns 0 or -errno.
 * On success *out belongs to the caller.
 */
int net_open(struct net **out, const char *path, const struct net_settings *settings,
	     struct err *err);

#endif
