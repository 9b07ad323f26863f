// `completion`: the scripts, tried in their shells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "cli/cli_output.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using test::cli_output;
using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

bool has_shell(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

std::vector<std::string> lines_of(const std::string& command) {
  std::string text;
  std::array<char, 4096> buffer{};
  FILE* pipe = ::popen(command.c_str(), "r");
  while (const auto count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), count);
  ::pclose(pipe);
  auto lines = split(text, '\n');
  std::erase(lines, "");
  std::sort(lines.begin(), lines.end());
  return lines;
}

class Completion : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!has_shell(GetParam())) GTEST_SKIP() << "no " << GetParam() << " on this machine";
    folder_.write("one.yaml", "");
    folder_.write("note.txt", "");
    folder_.write("script", cli_output({"completion", GetParam()}).out);
    folder_.write("try.bash",
                  "source ./script\n"
                  "COMP_LINE=\"$1\"; COMP_POINT=${#1}; _ddptrain\n"
                  "[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    folder_.write("try.zsh",
                  "autoload -Uz compinit; compinit -D -u\n"
                  "source ./script\n"
                  "setopt sh_word_split\n"
                  "words=(${(z)1}); [[ $1 = *' ' ]] && words+=('')\n"
                  "cur=$words[-1]; prev=$words[-2]; verb=; (( $#words > 2 )) && verb=$words[2]\n"
                  "(( $#words > 2 )) || prev=\n"
                  "for one in $(_ddptrain_candidates \"$cur\" \"$prev\" \"$verb\" "
                  "$(( $#words > 3 ? $#words - 3 : 0 )) \"$words[3]\"); do\n"
                  "  if [ $one = @yaml ]; then print -l ${cur}*.yaml(N); continue; fi\n"
                  "  case $one in \"$cur\"*) print -- \"$one\" ;; esac\n"
                  "done\n");
    folder_.write("try.fish",
                  "source ./script\ncomplete -C \"$argv[1]\" | string replace -r '\\t.*' ''\n");
  }

  std::vector<std::string> after(const std::string& typed) const {
    const auto options = GetParam() == "zsh"    ? " -f"
                         : GetParam() == "bash" ? " --norc"
                                                : " --no-config";
    return lines_of("cd " + folder_.path() + " && HOME=" + folder_.path() + " " + GetParam() +
                    options + " ./try." + GetParam() + " '" + typed + "'");
  }

  /// bash takes what stands before '=' for a word of its own.
  std::string value(const std::string& key, const std::string& word) const {
    return GetParam() == "bash" ? word : key + "=" + word;
  }

  TemporaryFolder folder_;
};

TEST_P(Completion, Verbs) {
  EXPECT_THAT(after("ddptrain "), IsSupersetOf({"run", "show", "completion"}));
  EXPECT_THAT(after("ddptrain compl"), ElementsAre("completion"));
  EXPECT_THAT(after("ddptrain help err"), ElementsAre("error"));
}

TEST_P(Completion, RecipesButNoOtherFiles) {
  const auto files = after("ddptrain show o");
  EXPECT_THAT(files, Contains("one.yaml"));
  EXPECT_THAT(after("ddptrain show n"), Not(Contains("note.txt")));
}

TEST_P(Completion, FlagsAndTheirValues) {
  EXPECT_THAT(after("ddptrain show --"), IsSupersetOf({"--full", "--why", "--color"}));
  EXPECT_THAT(after("ddptrain show --color "), ElementsAre("always", "auto", "never"));
  EXPECT_THAT(after("ddptrain validate --format "),
              ElementsAre("github", "json", "jsonl", "sarif", "text"));
  EXPECT_THAT(after("ddptrain show one.yaml --why batch.mic"), ElementsAre("batch.micro"));
}

TEST_P(Completion, ComponentsOfAKind) {
  EXPECT_THAT(after("ddptrain describe cli"), Contains("clip"));
  EXPECT_THAT(after("ddptrain describe clip "), ElementsAre("norm", "value"));
}

TEST_P(Completion, KeysOfOverrides) {
  EXPECT_THAT(after("ddptrain run one.yaml optimizer.lr_b"), ElementsAre("optimizer.lr_batch="));
  EXPECT_THAT(after("ddptrain run one.yaml parallel.mode="),
              ElementsAre(value("parallel.mode", "auto"), value("parallel.mode", "ddp"),
                          value("parallel.mode", "dp"), value("parallel.mode", "fsdp"),
                          value("parallel.mode", "none"), value("parallel.mode", "zero1"),
                          value("parallel.mode", "zero2")));
  EXPECT_THAT(
      after("ddptrain run one.yaml parallel.shard.group="),
      ElementsAre(value("parallel.shard.group", "auto"), value("parallel.shard.group", "node")));
  EXPECT_THAT(after("ddptrain run one.yaml train.clip="), Contains(value("train.clip", "norm")));
}

TEST_P(Completion, StartersAndShells) {
  EXPECT_THAT(after("ddptrain init imagenette-8"), ElementsAre("imagenette-80"));
  EXPECT_THAT(after("ddptrain completion f"), ElementsAre("fish"));
}

INSTANTIATE_TEST_SUITE_P(Shells, Completion, testing::Values("bash", "zsh", "fish"),
                         [](const auto& param) { return param.param; });

TEST(CompletionVerb, KnowsThreeShells) {
  const auto answer = cli_output({"completion", "fihs"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, testing::HasSubstr("not one of bash, zsh, fish; did you mean 'fish'?"));
}

}  // namespace
}  // namespace ddptrain
