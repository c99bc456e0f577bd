# The folder $d belongs to this keeper from here on. The keeper of a campaign that was killed may still be at
# work; it is known by its process number and the time it started, and is waited for. What a keeper left
# behind that was killed as well is removed first. The folder's parent must be there: a mistyped directory is
# refused and not made, since another disk would be measured in its place. Status 2 says that the plan is wrong.
# A keeper whose campaign was killed while it waited still gets the folder in the end. It must live on then, though
# nobody reads what it prints, since it alone removes the folder.
trap '' PIPE
p=${d%/*}
[ -d "$p" ] || {
	echo "$p: this directory of the plan does not exist; make it, or correct the plan" >&2
	exit 2
}
started() { read -r s <"/proc/$1/stat" && s=${s##*) } && set -- $s && echo "${20}"; }
# Only mkdir decides who has the folder, so that a keeper that starts late, after its campaign was killed, takes
# nothing from the next one. A folder without a keeper may be one that was made this instant: it gets 2 s.
n=0 bare=0
until mkdir "$d" 2>/dev/null; do
	[ -d "$d" ] || {
		mkdir "$d" 2>&3 && break
		[ -d "$d" ] || exit 1
	}
	p= at=
	read -r p at <"$d/.keeper"
	if [ "$p" ] && [ "$(started "$p")" = "$at" ]; then
		bare=0
	elif [ "$p" ] || [ $bare -ge 20 ]; then
		q= if_at=
		mv "$d" "$d.$$" && read -r q if_at <"$d.$$/.keeper"
		if [ "$q $if_at" = "$p $at" ]; then
			rm -rf "$d.$$"
		else
			mv "$d.$$" "$d" # somebody else has just taken the folder
		fi
		continue
	else
		bare=$((bare + 1))
	fi
	[ $n -lt 100 ] || {
		echo "$d: a campaign of that name is under way" >&3
		exit 1
	}
	sleep 0.1
	n=$((n + 1))
done 3>&2 2>/dev/null
echo "$$ $(started $$)" >"$d/.keeper" || exit 1
