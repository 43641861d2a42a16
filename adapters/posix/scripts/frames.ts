/*
 * How a lane answers. A request is one line, `q MARKER VERB WORD…`, and for some verbs exactly N bytes behind it. The
 * answer is MARKER, body, MARKER, fields, MARKER; when the fields begin with `again` or `part`, another one follows.
 *
 * Inside: m is the marker, b_ what is still to be said before the fields, fd 3 the answers, fd 5 the requests. stdin is
 * /dev/null, so that no child can eat a request. Names that end in _ are scratch.
 */
export const FRAMES = `
  q() { m=$1 b_=$1; shift; "$@"; cd /; }
  # Opens the body.
  o() { printf %s "$m"; b_=; }
  # Ends it with these fields.
  z() { printf '%s%s%s%s' "$b_" "$m" "$*" "$m"; b_=$m; }
  no() { z no "$@"; return 1; }
  bye() { exit 0; }
`;

/** No surprises from the account's environment. A shell that is bash would keep some news to itself in its POSIX mode. */
export const SETTINGS = `
  [ -z "$BASH_VERSION" ] || set +o posix
  unset IFS CDPATH ENV BASH_ENV GREP_OPTIONS RIPGREP_CONFIG_PATH POSIXLY_CORRECT TMPDIR
  LC_ALL=C
  export LC_ALL
  trap '' PIPE HUP
  UM=$(umask)
  nl=$(printf '\\n.')
  nl=\${nl%.}
`;

/** What a lane does for ever. \`ended\` runs when our side has gone without a word. */
export const LOOP = `
  exec 3>&1 5<&0 0</dev/null
  while IFS= read -r l <&5; do eval "$l"; done
  ended
`;
