#!/bin/sh
# embed.sh FILE...: the files as rows {"name", "text"} of C.
for file; do
	name=${file##*/}
	printf '{"%s",\n' "${name%.target}"
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' "$file"
	printf '},\n'
done
