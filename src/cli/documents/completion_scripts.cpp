#include "cli/documents/completion_scripts.h"

#include <fmt/format.h>

namespace ddptrain {
namespace {

// What both bash and zsh run: prints candidates, one a line; @yaml and @files ask for files.
//   _ddptrain_candidates CURRENT PREVIOUS VERB WORDS FIRST: WORDS stand after the verb, FIRST is
//   the first of them.
constexpr const char* kCandidates = R"sh(
_ddptrain_lines() {
  [ "$#" -eq 0 ] || printf '%s\n' "$@"
}

# Keys that begin with $1, up to the next dot, followed by $2.
_ddptrain_next_keys() {
  local key word last=
  for key in $(_ddptrain_keys all); do
    case $key in "$1"*) ;; *) continue ;; esac
    word=${key#"$1"}
    case $word in *.*) word="$1${word%%.*}." ;; *) word="$key$2" ;; esac
    [ "$word" = "$last" ] || printf '%s\n' "$word"
    last=$word
  done
}

_ddptrain_overrides() {
  local value
  case $1 in
    *=*) for value in $(_ddptrain_values "${1%%=*}"); do printf '%s=%s\n' "${1%%=*}" "$value"; done ;;
    '~'*) for value in $(_ddptrain_next_keys "${1#?}" ''); do printf '~%s\n' "$value"; done ;;
    *) _ddptrain_next_keys "$1" = ;;
  esac
}

_ddptrain_candidates() {
  local class value
  if [ -z "$3" ]; then _ddptrain_lines $(_ddptrain_verbs verbs); return; fi
  value=$(_ddptrain_flag_values "$3,$2")
  case $value in
    '') ;;
    @keys) _ddptrain_next_keys "$1" ''; return ;;
    *) _ddptrain_lines $value; return ;;
  esac
  case $1 in -*) _ddptrain_lines $(_ddptrain_flags "$3"); return ;; esac
  for class in $(_ddptrain_classes "$3"); do
    case $class in
      recipes) echo @yaml ;;
      files) echo @files ;;
      overrides) [ -z "$1" ] && [ "$4" -eq 0 ] || _ddptrain_overrides "$1" ;;
      components) [ "$4" -ne 1 ] || _ddptrain_lines $(_ddptrain_components "$5") ;;
      keys) [ "$4" -ne 0 ] || [ -z "$1" ] || _ddptrain_next_keys "$1" '' ;;
      verbs|kinds|starters) [ "$4" -ne 0 ] || _ddptrain_lines $(_ddptrain_verbs "$class") ;;
      '='*) [ "$4" -ne 0 ] || echo "${class#=}" ;;
    esac
  done
}
)sh";

constexpr const char* kBash = R"sh(
_ddptrain() {
  local line="${COMP_LINE:0:COMP_POINT}" words word candidate
  local cur="${line##*[[:space:]]}"
  line="${line%"$cur"}"
  read -ra words <<< "$line"
  COMPREPLY=()
  while read -r candidate; do
    case $candidate in
      @yaml) while read -r word; do COMPREPLY+=("$word"); done < <(
               compgen -f -X '!*.yaml' -- "$cur"; compgen -d -S / -- "$cur") ;;
      @files) while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur") ;;
      "$cur"*) COMPREPLY+=("$candidate") ;;
    esac
  done < <(_ddptrain_candidates "$cur" "${words[${#words[@]}-1]}" "${words[1]-}" \
             $((${#words[@]} > 2 ? ${#words[@]} - 2 : 0)) "${words[2]-}")
  case ${COMPREPLY[0]-} in *[=./]) compopt -o nospace 2>/dev/null ;; esac
  # What is before '=' is a word of its own for readline.
  if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*=}"}"}")
  fi
}
complete -F _ddptrain ddptrain
)sh";

constexpr const char* kZsh = R"sh(
_ddptrain() {
  setopt local_options sh_word_split
  local cur="$PREFIX" candidate
  local -a open closed
  while read -r candidate; do
    case $candidate in
      @yaml) _files -g '*.yaml' ;;
      @files) _files ;;
      *[=.]) open+=("$candidate") ;;
      ?*) closed+=("$candidate") ;;
    esac
  done < <(if (( CURRENT > 2 )); then
             _ddptrain_candidates "$cur" "${words[CURRENT-1]}" "${words[2]}" $((CURRENT - 3)) "${words[3]}"
           else
             _ddptrain_candidates "$cur" '' '' 0 ''
           fi)
  (( ${#open} )) && compadd -S '' -- "${open[@]}"
  (( ${#closed} )) && compadd -- "${closed[@]}"
  return 0
}
if [ "${funcstack[1]-}" = _ddptrain ]; then _ddptrain "$@"; else compdef _ddptrain ddptrain; fi
)sh";

constexpr const char* kFish = R"sh(
function _ddptrain_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    if test (count $words) -lt 2
        string split ' ' -- (_ddptrain_verbs verbs)
        return
    end
    set -l verb $words[2]
    set -l after (math (count $words) - 2)
    set -l value (_ddptrain_flag_values $verb,$words[-1])
    if test "$value" = @keys
        string split ' ' -- (_ddptrain_keys all)
        return
    else if test "$value" = @files
        __fish_complete_path $cur
        return
    else if test -n "$value"
        string split ' ' $value
        return
    end
    if string match -q -- '-*' $cur
        string split ' ' -- (_ddptrain_flags $verb)
        return
    end
    for class in (string split ' ' -- (_ddptrain_classes $verb))
        switch $class
            case recipes
                for file in $cur*.yaml $cur*/
                    echo $file
                end
            case files
                __fish_complete_path $cur
            case overrides
                if string match -q '*=*' -- $cur
                    set -l key (string replace -r '=.*' '' -- $cur)
                    for value in (string split ' ' -- (_ddptrain_values $key))
                        echo $key=$value
                    end
                else if test -n "$cur" -o $after -gt 0
                    for key in (string split ' ' -- (_ddptrain_keys all))
                        echo $key=
                    end
                end
            case components
                test $after -eq 1; and string split ' ' -- (_ddptrain_components $words[3])
            case keys
                test $after -eq 0; and string split ' ' -- (_ddptrain_keys all)
            case verbs kinds starters
                test $after -eq 0; and string split ' ' -- (_ddptrain_verbs $class)
            case '=*'
                test $after -eq 0; and string sub -s 2 -- $class
        end
    end
end
complete -c ddptrain -f -a '(_ddptrain_complete)'
)sh";

class Posix final : public Shell {
 public:
  Posix(const char* head, const char* script) : head_(head), script_(script) {}
  std::string open(const std::string& function) const override {
    return function + "() {\n  case $1 in\n";
  }
  std::string row(const std::string& name, const std::string& words) const override {
    return fmt::format("    {}) echo '{}' ;;\n", name, words);
  }
  std::string close() const override { return "  esac\n}\n"; }
  std::string head() const override { return head_; }
  std::string body() const override { return std::string(kCandidates) + script_; }

 private:
  const char* head_;
  const char* script_;
};

class Fish final : public Shell {
 public:
  std::string open(const std::string& function) const override {
    return fmt::format(
        "function {}\n"
        "    switch $argv[1]\n",
        function);
  }
  std::string row(const std::string& name, const std::string& words) const override {
    return fmt::format(
        "        case '{}'\n"
        "            echo '{}'\n",
        name, words);
  }
  std::string close() const override { return "    end\nend\n"; }
  std::string head() const override {
    return "# Completes ddptrain in fish: ddptrain completion fish | source\n"
           "# or, for good, into ~/.config/fish/completions/ddptrain.fish\n";
  }
  std::string body() const override { return kFish; }
};

}  // namespace

const Shell* find_shell(const std::string& name) {
  static const Posix bash(
      "# Completes ddptrain in bash: source <(ddptrain completion bash)\n"
      "# or, for good, into ~/.local/share/bash-completion/completions/ddptrain\n",
      kBash);
  static const Posix zsh(
      "#compdef ddptrain\n"
      "# Completes ddptrain in zsh: source <(ddptrain completion zsh), after compinit,\n"
      "# or, for good, into a file _ddptrain in a folder of $fpath\n",
      kZsh);
  static const Fish fish;
  if (name == "bash") return &bash;
  if (name == "zsh") return &zsh;
  return name == "fish" ? &fish : nullptr;
}

}  // namespace ddptrain
