# Prints the processor time of this machine since it started, in ticks: "@cpu BUSY ALL".
read -r _ c1 c2 c3 c4 c5 c6 c7 c8 _ </proc/stat &&
	echo "@cpu $((c1 + c2 + c3 + c6 + c7 + c8)) $((c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8))"
