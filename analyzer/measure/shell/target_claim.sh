# The folder $d belongs to this keeper from here on. The keeper of a campaign that was killed may still be at
# work; it is known by its process number and the time it started, and is waited for. What a keeper left
# behind that was killed as well is removed first. The folder's parent must be there: a mistyped directory is
# refused and not made, since another disk would be measured in its place. Status 2 says that the plan is wrong.
p=${d%/*}
[ -d "$p" ] || {
	echo "$p: this directory of the plan does not exist; make it, or correct the plan" >&2
	exit 2
}
started() { read -r s <"/proc/$1/stat" && s=${s##*) } && set -- $s && echo "${20}"; }
n=0
while read -r p at <"$d/.keeper" && [ "$(started "$p")" = "$at" ]; do
	[ $n -lt 100 ] || {
		echo "$d: a campaign of that name is under way" >&3
		exit 1
	}
	sleep 0.1
	n=$((n + 1))
done 3>&2 2>/dev/null
rm -rf "$d"
mkdir "$d" && echo "$$ $(started $$)" >"$d/.keeper" || exit 1
