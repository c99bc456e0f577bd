# Joins modules of the live page into one, so that a browser fetches one file instead of one after the other:
#	awk -v base=BASE.mjs -f scripts/join-modules.awk MODULE.mjs... >OUT.mjs
# Each module stays a scope of its own: it becomes a function that returns what the module exports. An import of another
# module of the list needs no statement then, and one of any other module is an import from BASE, which is the joined
# file that holds that module. With rest=REST.mjs, import("./X.mjs") becomes import("./REST.mjs"). An import must stand on
# one line and take names in braces; an export must be of a function, a class or a constant, each with a name that no
# other module of the list exports.
function die(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}
function name_of(path) {
	sub(/.*\//, "", path)
	return path
}
function finish() {
	if (module)
		body = body "return {" own " };\n})();\n"
}
BEGIN {
	for (i = 1; i < ARGC; i++)
		listed[name_of(ARGV[i])] = 1
}
FNR == 1 {
	finish()
	module = name_of(FILENAME)
	own = ""
	heads[++nr_modules] = module
	parts[nr_modules] = body
	body = ""
}
/^import / {
	if (!match($0, /^import \{ [A-Za-z0-9_, ]+ \} from "\.\/[a-z]+\.mjs";$/))
		die("expected: import { NAMES } from \"./MODULE.mjs\";")
	from = $0
	sub(/.*"\.\//, "", from)
	sub(/";$/, "", from)
	names = $0
	sub(/^import \{ /, "", names)
	sub(/ \} from .*/, "", names)
	n = split(names, list, /, /)
	for (i = 1; i <= n && !(from in listed); i++)
		if (!(list[i] in imported)) {
			imported[list[i]] = 1
			imports = imports (imports ? ", " : "") list[i]
		}
	next
}
/^export / {
	if (!match($0, /^export (async )?(function|class|const) [A-Za-z0-9_]+/))
		die("expected: export function, class or const NAME")
	exported = substr($0, 1, RLENGTH)
	sub(/.* /, "", exported)
	if (exported in known)
		die(exported " is exported by " known[exported] " as well")
	known[exported] = module
	own = own (own ? ", " : " ") exported
	exports = exports (exports ? ", " : "") exported
	sub(/^export /, "")
}
/^\/\// {
	next
}
{
	if (rest)
		gsub(/import\("\.\/[a-z]+\.mjs"\)/, "import(\"./" rest "\")")
	body = body $0 "\n"
	owns[module] = own
}
END {
	if (failed)
		exit 1
	finish()
	parts[nr_modules + 1] = body
	if (imports)
		printf "import { %s } from \"./%s\";\n", imports, base
	for (i = 1; i <= nr_modules; i++) {
		printf "const {%s } = (() => {\n", owns[heads[i]]
		printf "%s", parts[i + 1]
	}
	printf "export { %s };\n", exports
}
