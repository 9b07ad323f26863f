// Recipes made to take time and memory: a named error after at most a second of computing (or what
// counts as one on a slow or busy machine) and 256 MiB, measured in a process of their own.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "recipe/catalogs.h"
#include "recipe/load/load.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr double kMostSeconds = kSanitized ? 20 : 1;
constexpr long kMostKilobytes = (kSanitized ? 4096 : 256) << 10;
constexpr std::size_t kMebibyte = 1 << 20;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// What this process has computed so far.
double seconds_used() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// What a fixed piece of work like that of reading a recipe takes here and now: about a second on a
/// machine of its own, more where it is slow or others share its cores and caches.
double reference_seconds() {
  const auto start = seconds_used();
  std::size_t count = 0;
  for (int round = 0; round < 3; ++round) {
    std::map<std::string, std::string> names;
    for (std::int64_t i = 0; i < 300'000; ++i)
      names.emplace("key" + std::to_string(i * 7'919 % 300'000), "");
    count += names.size();
  }
  EXPECT_EQ(count, 900'000U);
  return seconds_used() - start;
}

/// Loads a file and says its problems, as `validate` does; the first error's rule goes to `out`.
[[noreturn]] void load_and_say(const std::string& file, int out) {
  const auto loaded = load_recipe({file}, {}, testing_recipes::catalogs());
  const auto message = render(loaded.problems);
  const auto error = std::find_if(loaded.problems.begin(), loaded.problems.end(),
                                  [](const Problem& p) { return p.severity == Severity::error; });
  const auto rule = error == loaded.problems.end() || message.empty() ? "none" : error->rule;
  const auto written = ::write(out, rule.data(), rule.size());
  ::_exit(written == static_cast<ssize_t>(rule.size()) ? 0 : 1);
}

class Hostile : public testing::Test {
 protected:
  struct Use {
    std::string rule;
    double seconds = 0;
    long kilobytes = 0;
  };

  /// The rule of the first error of a recipe, within the limits.
  std::string first_rule(const std::string& text) {
    const auto file = folder_.write("a.yaml", text);
    auto use = load(file);
    auto most = kMostSeconds;
    for (int i = 0; i < 5 && use.seconds > most; ++i) {
      most = kMostSeconds * std::max(1.0, reference_seconds());
      if (const auto again = load(file); again.seconds < use.seconds) use = again;
    }
    EXPECT_LE(use.seconds, most);
    EXPECT_LE(use.kilobytes, kMostKilobytes);
    return use.rule;
  }

  static Use load(const std::string& file) {
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    const auto child = ::fork();
    if (child == 0) load_and_say(file, pipe[1]);
    ::close(pipe[1]);
    char buffer[64] = {};
    const auto got = ::read(pipe[0], buffer, sizeof buffer - 1);
    ::close(pipe[0]);
    int status = 0;
    rusage used{};
    EXPECT_EQ(::wait4(child, &status, 0, &used), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    return {got > 0 ? std::string(buffer) : "nothing",
            seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss};
  }

  const TemporaryFolder folder_;
};

std::string keys(std::size_t count, const std::string& value) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "k" + std::to_string(i) + value;
  return text;
}

std::string repeated(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST_F(Hostile, AMebibyteOfKeys) { EXPECT_EQ(first_rule(keys(100'000, ": 1\n")), "unknown-key"); }

TEST_F(Hostile, AMebibyteOfKeysInOneLine) {
  EXPECT_EQ(first_rule("{" + keys(100'000, ": 1,") + "}\n"), "unknown-key");
}

TEST_F(Hostile, MistakesBehindAMebibyteOfNotes) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "x-" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(first_rule(text + keys(20'000, ": 1\n")), "unknown-key");
}

TEST_F(Hostile, AMebibyteOfMetrics) {
  const auto recipe = [](int count) {
    std::string text =
        "model: mlp\ndata: {type: image_folder, root: a}\nbatch: {global: 8}\nexpect:\n";
    for (int i = 0; i < count; ++i) text += "  m" + std::to_string(i) + ": {min: 1}\n";
    return text;
  };
  EXPECT_EQ(first_rule(recipe(50'000)), "bad-value");
  EXPECT_EQ(first_rule(recipe(10'000)), "expect-metric");
}

TEST_F(Hostile, LongNames) {
  EXPECT_EQ(first_rule(std::string(kMebibyte - 10, 'k') + ": 1\n"), "syntax")
      << "YAML ends a key after 1024 characters";
  std::string text;
  for (int i = 0; i < 15'000; ++i) text += std::string(58, 'k') + std::to_string(i) + ": 1\n";
  EXPECT_EQ(first_rule(text), "unknown-key");
  EXPECT_EQ(first_rule("name: " + std::string(kMebibyte - 10, 'n') + "\n"), "missing-key");
}

TEST_F(Hostile, TooLarge) {
  EXPECT_EQ(first_rule(std::string(kMebibyte + 1, '#')), "too-large");
  EXPECT_EQ(first_rule(std::string(64 * kMebibyte, '\n')), "too-large");
}

TEST_F(Hostile, NestingOfTenThousand) {
  const std::size_t depth = 10'000;
  EXPECT_EQ(first_rule("a: " + std::string(depth, '[') + std::string(depth, ']') + "\n"),
            "too-deep");
  EXPECT_EQ(first_rule("a: " + repeated("{a: ", depth) + "1" + std::string(depth, '}') + "\n"),
            "too-deep");
  EXPECT_EQ(first_rule("a:\n  " + repeated("- ", depth) + "1\n"), "too-deep");
  EXPECT_EQ(first_rule("a: " + std::string(kMebibyte - 10, '[')), "syntax");
  EXPECT_EQ(first_rule("a: " + repeated("[{", kMebibyte / 2 - 10)), "syntax");
  std::string block;
  for (std::size_t i = 0; i < 1'400; ++i) block += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(first_rule(block), "too-deep");
}

TEST_F(Hostile, AliasBombs) {
  std::string laughs = "x0: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const auto last = "*x" + std::to_string(i - 1);
    laughs += "x" + std::to_string(i) + ": &x" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) laughs += ", " + last;
    laughs += "]\n";
  }
  EXPECT_EQ(first_rule(laughs), "too-many-nodes");
  const auto square = "x-a: &a [" + repeated("1,", 1'000) + "]\nx-b: [" + repeated("*a,", 100'000);
  EXPECT_EQ(first_rule(square + "]\n"), "too-many-nodes");
}

TEST_F(Hostile, CyclicAliases) {
  EXPECT_EQ(first_rule("a: &a [*a]\n"), "alias");
  EXPECT_EQ(first_rule("a: &a {b: *b}\nb: &b {a: *a}\n"), "syntax");
  EXPECT_EQ(first_rule("x-a: &a [" + repeated("*a, ", 100'000) + "]\n"), "alias");
}

}  // namespace
}  // namespace ddptrain
