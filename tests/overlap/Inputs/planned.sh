# What is wrong in what a dump says of the program before its schedule: planned.sh SHDC DUMP
for edit in s/planned.2=/planned.3=/ 's/planned.1="all-gather/planned.1="gather/' \
	's/planned="147462/planned="-1/' s/25600035/2e7/ 's/ 6144 4 22/ 6144 x 22/' \
	's/planned="1"/planned="9"/' 's/planned="1"/planned="x"/' 's/(data)/(dat)/'; do
	sed "$edit" "$2" > "$2.edited.hlo"
	$1 --emit=stats "$2.edited.hlo" 2>&1 | grep error
done
