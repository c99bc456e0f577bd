// SPDX-License-Identifier: Apache-2.0
#include "base/data/fields_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define REFERENCE_BYTES 128

static json_t *schema_of(const struct field *f, json_t *definitions);
static json_t *schema_of_table(const struct fields *t, json_t *definitions);

static json_t *schema_reference(const char *name)
{
	char text[REFERENCE_BYTES];

	snprintf(text, sizeof(text), "#/$defs/%s", name);
	return json_pack("{s:s}", "$ref", text);
}

/* A definition is registered before it is made, so that it may refer to itself. */
static json_t *schema_defined_table(const struct fields *t, json_t *definitions)
{
	if (!t->name)
		return schema_of_table(t, definitions);
	if (!json_object_get(definitions, t->name)) {
		json_object_set_new(definitions, t->name, json_object());
		json_object_set_new(definitions, t->name, schema_of_table(t, definitions));
	}
	return schema_reference(t->name);
}

static json_t *schema_defined_item(const struct field *f, json_t *definitions)
{
	if (!f->name)
		return schema_of(f, definitions);
	if (!json_object_get(definitions, f->name)) {
		json_object_set_new(definitions, f->name, json_object());
		json_object_set_new(definitions, f->name, schema_of(f, definitions));
	}
	return schema_reference(f->name);
}

static json_t *schema_whole_or_real(double value)
{
	return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
							   : json_real(value);
}

static void schema_put_number(json_t *out, const struct field *f)
{
	const char *type = f->type == FIELD_COUNT && !f->computed ? "integer" : "number";

	json_object_set_new(out, "type",
			    f->computed ? json_pack("[s, s]", type, "string")
			    : f->null	? json_pack("[s, s]", type, "null")
					: json_string(type));
	if (isfinite(f->low))
		json_object_set_new(out, f->above ? "exclusiveMinimum" : "minimum",
				    schema_whole_or_real(f->low));
	if (f->high && isfinite(f->high))
		json_object_set_new(out, "maximum", schema_whole_or_real(f->high));
}

static void schema_put_text(json_t *out, const struct field *f)
{
	json_object_set_new(out, "type", json_string("string"));
	if (f->pattern)
		json_object_set_new(out, "pattern", json_string(f->pattern));
	json_object_set_new(out, "minLength", json_integer(1));
	if (f->room)
		json_object_set_new(out, "maxLength", json_integer((json_int_t)f->room - 1));
}

static void schema_put_words(json_t *out, const struct field *f)
{
	json_t *list = json_array();

	for (size_t i = 0; f->words[i]; i++)
		json_array_append_new(list, json_string(f->words[i]));
	json_object_set_new(out, "enum", list);
}

static void schema_put_items(json_t *out, const struct field *f, json_t *definitions)
{
	bool map = f->type == FIELD_MAP;

	json_object_set_new(out, "type", json_string(map ? "object" : "array"));
	if (f->low)
		json_object_set_new(out, map ? "minProperties" : "minItems",
				    json_integer((json_int_t)f->low));
	if (f->high)
		json_object_set_new(out, map ? "maxProperties" : "maxItems",
				    json_integer((json_int_t)f->high));
	if (f->keys)
		json_object_set_new(out, "propertyNames", json_pack("{s:s}", "pattern", f->keys));
	if (f->banned)
		json_object_set_new(out, "propertyNames",
				    json_pack("{s:o}", "pattern",
					      json_sprintf("^[^%s]+$", f->banned)));
	json_object_set_new(out, map ? "additionalProperties" : "items",
			    schema_defined_item(f->item, definitions));
}

static void schema_put_either(json_t *out, const struct field *f, json_t *definitions)
{
	json_t *list = json_array();

	for (const struct field *one = f->item; !fields_is_end(one); one++)
		json_array_append_new(list, schema_of(one, definitions));
	json_object_set_new(out, "anyOf", list);
}

static void schema_put_tuple(json_t *out, const struct field *f, json_t *definitions)
{
	json_t *list = json_array();

	for (const struct field *one = f->item; !fields_is_end(one); one++)
		json_array_append_new(list, schema_of(one, definitions));
	json_object_set_new(out, "type", json_string("array"));
	json_object_set_new(out, "minItems", json_integer((json_int_t)json_array_size(list)));
	json_object_set_new(out, "prefixItems", list);
}

static json_t *schema_of(const struct field *f, json_t *definitions)
{
	json_t *out = f->as			? schema_defined_item(f->as, definitions)
		      : f->type == FIELD_STRUCT ? schema_defined_table(f->of, definitions)
						: json_object();

	if (f->type == FIELD_TEXT)
		schema_put_text(out, f);
	else if (f->type == FIELD_WORD)
		schema_put_words(out, f);
	else if (f->type == FIELD_FLAG)
		json_object_set_new(out, "type", json_string("boolean"));
	else if (f->type == FIELD_COUNT || f->type == FIELD_NUMBER)
		schema_put_number(out, f);
	else if (f->type == FIELD_MAP || f->type == FIELD_LIST)
		schema_put_items(out, f, definitions);
	else if (f->type == FIELD_EITHER)
		schema_put_either(out, f, definitions);
	else if (f->type == FIELD_TUPLE)
		schema_put_tuple(out, f, definitions);
	if (f->help && f->unit)
		json_object_set_new(out, "description",
				    json_sprintf("%s; in %s without a unit", f->help, f->unit));
	else if (f->help)
		json_object_set_new(out, "description", json_string(f->help));
	if (f->standard)
		json_object_set_new(out, "default", json_loads(f->standard, JSON_DECODE_ANY, NULL));
	return out;
}

static json_t *schema_required(const char *name)
{
	return json_pack("{s:[s]}", "required", name);
}

/*
 * Writes a group as "oneOf" or "anyOf" of the keys that each alternative requires. Several groups
 * stand together in "allOf".
 */
static void schema_put_group(json_t *all, const struct fields *t, bool choice, unsigned int group)
{
	json_t *list = json_array();

	for (const struct field *f = t->fields; !fields_is_end(f); f++)
		if ((choice ? f->choice : f->some) == group)
			json_array_append_new(list, schema_required(f->name));
	json_array_append_new(all, json_pack("{s:o}", choice ? "oneOf" : "anyOf", list));
}

static void schema_put_groups(json_t *out, const struct fields *t)
{
	json_t *all = json_array();
	unsigned int last_choice = 0, last_some = 0;

	for (const struct field *f = t->fields; !fields_is_end(f); f++) {
		if (f->choice > last_choice)
			schema_put_group(all, t, true, last_choice = f->choice);
		if (f->some > last_some)
			schema_put_group(all, t, false, last_some = f->some);
	}
	if (json_array_size(all) == 1)
		json_object_update(out, json_array_get(all, 0));
	else if (json_array_size(all))
		json_object_set(out, "allOf", all);
	json_decref(all);
}

/* Makes the schema for the absence of every key of the list. */
static json_t *schema_without(const char *keys)
{
	json_t *any = json_array();

	for (; *keys; keys += strspn(keys, " ")) {
		size_t len = strcspn(keys, " ");

		json_array_append_new(any, json_pack("{s:[s%]}", "required", keys, len));
		keys += len;
	}
	return json_pack("{s:{s:o}}", "not", "anyOf", any);
}

/* Writes which keys require or exclude other keys. */
static void schema_put_companions(json_t *out, const struct fields *t)
{
	json_t *with = json_object(), *without = json_object();

	for (const struct field *f = t->fields; !fields_is_end(f); f++) {
		if (f->with)
			json_object_set_new(with, f->name, json_pack("[s]", f->with));
		if (f->without)
			json_object_set_new(without, f->name, schema_without(f->without));
	}
	if (json_object_size(with))
		json_object_set(out, "dependentRequired", with);
	if (json_object_size(without))
		json_object_set(out, "dependentSchemas", without);
	json_decref(with);
	json_decref(without);
}

static json_t *schema_of_table(const struct fields *t, json_t *definitions)
{
	json_t *out = json_object(), *required = json_array(), *properties = json_object();

	if (t->help)
		json_object_set_new(out, "description", json_string(t->help));
	json_object_set_new(out, "type", json_string("object"));
	json_object_set_new(out, "additionalProperties", json_false());
	for (const struct field *f = t->fields; !fields_is_end(f); f++) {
		if (f->required)
			json_array_append_new(required, json_string(f->name));
		json_object_set_new(properties, f->name, schema_of(f, definitions));
	}
	if (json_array_size(required))
		json_object_set(out, "required", required);
	json_decref(required);
	if (t->one_key) {
		json_object_set_new(out, "minProperties", json_integer(1));
		json_object_set_new(out, "maxProperties", json_integer(1));
	}
	schema_put_groups(out, t);
	schema_put_companions(out, t);
	json_object_set_new(out, "properties", properties);
	return out;
}

json_t *fields_schema(const struct fields *root)
{
	json_t *definitions = json_object();
	json_t *out =
		json_pack("{s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
			  "title", root->title);
	json_t *body = schema_of_table(root, definitions);

	if (!out || !body || !definitions) {
		json_decref(out);
		json_decref(body);
		json_decref(definitions);
		return NULL;
	}
	json_object_update(out, body);
	json_decref(body);
	json_object_set_new(out, "$defs", definitions);
	return out;
}
