// Files made to take time and memory, to give wrong weights in silence, or to end in a bug: each
// is an error that names it, after at most a second and 256 MiB, measured in a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/output/log.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "hostile_reading.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using namespace hostile;
using namespace torch_bytes;
using testing::EndsWith;
using testing::HasSubstr;

TEST(HostilePickle, NamesDoNotGrowByBeingPutTogether) {
  EXPECT_THAT(said_to(file(pickled(text("a") + times(40, "2\x93")))),
              EndsWith("x.pth' is no sound pickle: a name is no text at byte 12"));
  const auto growing = text(std::string(500, 'a')) + "q" + std::string(1, '\0');
  EXPECT_THAT(said_to(file(pickled(growing + "(" +
                                   times(200'000, "h" + std::string(1, '\0') + "2\x93") + "t"))),
              EndsWith("x.pth' cannot be read as a torch file: there is no dict of tensors in it, "
                       "neither itself nor under 'state_dict' or 'model'"));
}

TEST(HostilePickle, AByteCostsLittle) {
  for (const std::string piece : {"N", "]", "}", ")", "(", "N\x85", "\x85", "N\x94", "]Na", "NQ"})
    EXPECT_NE(said_to(file(pickled("N" + times(kMebibyte / piece.size(), piece)))), "read")
        << testing::PrintToString(piece);
}

TEST(HostilePickle, AKeyUsedAMillionTimesIsLookedAtOnce) {
  const auto key = text(std::string(kMebibyte / 2, 'k')) + "q" + std::string(1, '\0') + "0";
  const auto weight = tensor(storage("Float", "1"), {"1"}, {"1"}) + "q\1" + "0";
  const auto again = "h" + std::string(1, '\0') + "h\1";
  EXPECT_EQ(said_to(file(pickled(key + weight + "}(" + times(100'000, again) + "u"), "1234")),
            "read");
}

TEST(HostilePickle, ViewsThatRepeatElementsAreNotWrittenOut) {
  const auto wide = tensor(storage("Float", "1"), {"1000000000", "8"}, {"0", "0"});
  EXPECT_THAT(said_to(file(dict(text("w") + wide), "1234")),
              EndsWith("x.pth' cannot be read as a torch file: its tensors repeat elements: they "
                       "have 32000000000 bytes, the file stores 4"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += text("w" + std::to_string(i)) + "h" + std::string(1, '\0');
  const auto square = tensor(storage("Float", "250000"), {"500", "500"}, {"1", "500"});
  EXPECT_THAT(said_to(file(pickled(square + "q" + std::string(1, '\0') + "0}(" + many + "u"),
                           std::string(1'000'000, '\0'))),
              EndsWith("x.pth' cannot be read as a torch file: its tensors repeat elements: they "
                       "have 1000000000 bytes, the file stores 1000000"));
  const auto expanded = tensor(storage("Float", "1"), {"3", "4"}, {"0", "0"});
  EXPECT_EQ(said_to(file(dict(text("w") + expanded), "1234")), "read");
}

TEST(HostilePickle, ShapesAreComputedWithoutOverflow) {
  const std::string large = "4611686018427387904";
  const auto refused = [&](const std::vector<std::string>& sizes,
                           const std::vector<std::string>& strides) {
    return said_to(file(dict(text("w") + tensor(storage("Float", "1"), sizes, strides)), "1234"));
  };
  EXPECT_THAT(
      refused({large, large, large}, {large, large, large}),
      EndsWith("x.pth' cannot be read as a torch file: 'w' has a shape whose size overflows"));
  EXPECT_THAT(
      refused({"0", large, large}, {"1", "1", "1"}),
      EndsWith("x.pth' cannot be read as a torch file: 'w' has a shape whose size overflows"));
  EXPECT_THAT(refused({"2"}, {"9223372036854775807"}),
              EndsWith("x.pth' cannot be read as a torch file: 'w' reaches beyond its storage"));
  EXPECT_THAT(refused(std::vector<std::string>(100, "1"), std::vector<std::string>(100, "1")),
              EndsWith("x.pth' cannot be read as a torch file: 'w' has 100 dimensions"));
}

TEST(HostilePickle, IntegersOfMoreThan64BitsAreNotZero) {
  EXPECT_THAT(
      said_to(file(dict(text("w") + tensor(storage("Float", "1"), {"18446744073709551617"}, {"1"})),
                   "1234")),
      EndsWith("x.pth' cannot be read as a torch file: 'w' has a size or stride that is no whole "
               "number from 0, of 64 bits"));
  const auto long_one = "\x8a\x09" + std::string(8, '\0') + "\1";
  EXPECT_THAT(
      said_to(file(dict(text("w") + "ctorch._utils\n_rebuild_tensor_v2\n(" + storage("Float", "1") +
                        long_one + tuple({"1"}) + tuple({"1"}) + "\x89" + "}tR"),
                   "1234")),
      EndsWith("x.pth' cannot be read as a torch file: 'w' has an offset that is no whole number "
               "from 0, of 64 bits"));
  EXPECT_EQ(said_to(file(dict(text("n") + long_one + text("w") +
                              tensor(storage("Float", "1"), {"1"}, {"1"})),
                         "1234")),
            "read")
      << "a generator's state may hold such a number";
}

TEST(HostilePickle, AStorageHasOneType) {
  const auto two = text("a") + tensor(storage("Float", "2"), {"2"}, {"1"}) + text("b") +
                   tensor(storage("Long", "1"), {"1"}, {"1"});
  EXPECT_THAT(said_to(file(dict(two), "12345678")),
              EndsWith("x.pth' cannot be read as a torch file: storage '0' is 2 of Float and 1 of "
                       "Long at once"));
}

TEST(HostilePickle, StoragesHaveTheLengthThatIsClaimed) {
  const auto weight = dict(text("w") + tensor(storage("Float", "2"), {"2"}, {"1"}));
  EXPECT_EQ(said_to(file(weight, "12345678")), "read");
  EXPECT_THAT(
      said_to(file(weight, "1234567")),
      EndsWith("x.pth' cannot be read as a torch file: storage '0' has 7 bytes and needs 8"));
  EXPECT_THAT(
      said_to(file(weight, "1234567890123456")),
      EndsWith("x.pth' cannot be read as a torch file: storage '0' has 16 bytes and needs 8"));
  EXPECT_THAT(said_to(zip({{"a/data.pkl", weight}})),
              EndsWith("x.pth' cannot be read as a torch file: storage '0' is missing"));
}

TEST(HostilePickle, CallsAreNamedAndNotMade) {
  std::vector<std::string> warnings;
  const log::WarningListener listener([&](const std::string& line) { warnings.push_back(line); });
  read_weights(test::in_source("tests/checkpoint/torch_files/danger.pth"), Calls::left_out);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("asks Python to call 'posix.system', which is not executed"));
  read_weights(test::in_source("tests/checkpoint/torch_files/training.pth"));
  EXPECT_EQ(warnings.size(), 1U) << warnings.back();
}

/// GLOBAL of protocol 0.
std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

TEST(HostilePickle, DangerousNamesAreRefusedCalledOrNot) {
  const auto weight = text("w") + tensor(storage("Float", "1"), {"1"}, {"1"});
  for (const auto& [module, name] :
       std::vector<std::pair<std::string, std::string>>{{"os", "system"},
                                                        {"posix", "system"},
                                                        {"nt", "system"},
                                                        {"builtins", "eval"},
                                                        {"builtins", "exec"},
                                                        {"builtins", "open"},
                                                        {"builtins", "getattr"},
                                                        {"builtins", "compile"},
                                                        {"builtins", "__import__"},
                                                        {"__builtin__", "eval"},
                                                        {"subprocess", "Popen"},
                                                        {"subprocess", "check_output"},
                                                        {"io", "open"},
                                                        {"_io", "open"},
                                                        {"socket", "create_connection"},
                                                        {"runpy", "run_path"},
                                                        {"shutil", "rmtree"},
                                                        {"importlib", "import_module"},
                                                        {"torch", "os.system"},
                                                        {"collections", "abc.sys.modules"},
                                                        {"pathlib", "Path.write_text"},
                                                        {"builtins", "eval.__call__"}}) {
    const auto call = global(module, name) + "(" + text("1") + "tR";
    EXPECT_THAT(said_to(file(dict(text("x") + call + weight))),
                HasSubstr("asks Python to call '" + module + "." + name + "'"));
    const auto handed =
        global("builtins", "map") + "(" + global(module, name) + "(" + text("1") + "ltR";
    EXPECT_THAT(said_to(file(dict(text("x") + handed + weight))),
                HasSubstr("asks Python to call '" + module + "." + name + "'"));
  }
  for (const auto& [module, name] :
       std::vector<std::pair<std::string, std::string>>{{"argparse", "Namespace"},
                                                        {"types", "SimpleNamespace"},
                                                        {"pathlib", "PosixPath"},
                                                        {"numpy.core.multiarray", "scalar"},
                                                        {"my.trainer", "Config.Optimizer"}}) {
    const auto call = global(module, name) + "(" + text("1") + "tR";
    EXPECT_EQ(said_to(file(dict(text("x") + call + weight), "1234")), "read")
        << module << "." << name;
  }
}

// `dependent` takes its offset from a call; `sound` shares the functions and classes with it.
TEST(HostilePickle, TensorsThatDependOnACallAreLeftOut) {
  const auto call = global("posix", "system") + "(" + text("true") + "tR";
  const auto dependent = "ctorch._utils\n_rebuild_tensor_v2\np9\n(" + storage("Float", "1") + call +
                         tuple({"1"}) + tuple({"1"}) + "tR";
  const auto sound =
      "g9\n(" + storage("Float", "1") + integer("0") + tuple({"1"}) + tuple({"1"}) + "I00\n}tR";
  const TemporaryFolder folder;
  write_bytes(folder / "x.pth",
              file(dict(text("dependent") + dependent + text("sound") + sound), "1234"));
  std::vector<std::string> warnings;
  const log::WarningListener listener([&](const std::string& line) { warnings.push_back(line); });
  const auto read = read_weights(folder / "x.pth", Calls::left_out);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].name, "sound");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("left out, since they depend on it: 'dependent'"));
}

TEST(HostilePickle, TensorsAreDescribedWhole) {
  const auto refused = [](const std::string& value) {
    return said_to(file(dict(text("w") + value), "1234")).substr(0, 200);
  };
  const auto rebuilt = [](const std::string& arguments) {
    return "ctorch._utils\n_rebuild_tensor_v2\n(" + arguments + "tR";
  };
  const auto stored = [](const std::string& key, const std::string& view) {
    return "(" + text("storage") + "ctorch\nFloatStorage\n" + key + text("cpu") + integer("1") +
           view + "tQ";
  };
  EXPECT_THAT(refused(rebuilt(storage("Float", "1"))),
              EndsWith("x.pth' cannot be read as a torch file: a tensor's description is too "
                       "short"));
  EXPECT_THAT(refused(tensor(stored(integer("0"), ""), {"1"}, {"1"})),
              EndsWith("x.pth' cannot be read as a torch file: 'w' has a storage without a name"));
  EXPECT_THAT(refused(tensor(stored(text("0"), tuple({"1"})), {"1"}, {"1"})),
              EndsWith("x.pth' cannot be read as a torch file: 'w' looks into a part of another "
                       "storage (a form before torch 0.4)"));
}

}  // namespace
}  // namespace ddptrain
