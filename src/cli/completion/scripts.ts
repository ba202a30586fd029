/**
 * What a shell reads to complete `borough`. Each asks `borough __complete WORDS…`, whose answer is that of kubectl and
 * other programs made with Cobra: a line for each candidate, with a tab before its description, and at the end `:N`,
 * where bit 4 of N says that no file may stand there.
 */

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

const bash = `# bash completion for borough
_borough() {
  local answer line directive part joined= last=-1
  local -a parts=()
  # bash takes '=' for a word of its own: --output=json are three.
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $joined == '=' ]] || { [[ $part == '=' ]] && (( last >= 0 )) && [[ \${parts[last]} == --* ]]; }; then
      parts[last]+="$part"
      [[ $joined == '=' ]] && joined=value || joined='='
    else
      parts+=("$part")
      last=$((last + 1)) joined=
    fi
  done
  answer="$(borough __complete -- "\${parts[@]}" 2>/dev/null)" || return
  directive="\${answer##*:}"
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == :* ]] && continue
    line="\${line%%$'\\t'*}"
    # Only what stands behind it is replaced.
    [[ -z $joined ]] || line="\${line#*=}"
    COMPREPLY+=("$line")
  done <<<"$answer"
  if (( \${#COMPREPLY[@]} == 0 && (directive & 4) == 0 )); then
    compopt -o default 2>/dev/null
  fi
}
complete -F _borough borough
`

const zsh = `#compdef borough
# zsh completion for borough
_borough() {
  local answer line value description directive
  local -a found
  answer="$(borough __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)" || return
  directive="\${answer##*:}"
  for line in "\${(@f)answer}"; do
    [[ $line == :* ]] && continue
    value="\${line%%$'\\t'*}"
    # Without one zsh would say the value twice.
    [[ $line == *$'\\t'* ]] && description=":\${line#*$'\\t'}" || description=
    found+=("\${value//:/\\\\:}$description")
  done
  if (( \${#found} )); then
    _describe borough found
  elif (( (directive & 4) == 0 )); then
    _files
  fi
}
if [ "$funcstack[1]" = _borough ]; then _borough; else compdef _borough borough; fi
`

const fish = `# fish completion for borough
function __borough_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answer (borough __complete -- $words[2..-1] 2>/dev/null)
  set -l directive (string replace -r '^:' '' -- $answer[-1])
  set -l found $answer[1..-2]
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else if test (math "bitand($directive, 4)") -eq 0
    __fish_complete_path (commandline -ct)
  end
end
complete -c borough -f -a '(__borough_complete)'
`

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
