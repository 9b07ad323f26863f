// Files made to take time and memory, to give wrong weights in silence, or to end in a bug: each
// is an error that names it, after at most a second and 256 MiB, measured in a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output/log.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "support/where.h"
#include "tensors.h"
#include "torch_bytes.h"

namespace ddptrain {
namespace {

using namespace torch_bytes;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostSeconds = 20;
constexpr long kMostKilobytes = 4096L << 10;
#else
constexpr double kMostSeconds = 1;
constexpr long kMostKilobytes = 256L << 10;
#endif

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

[[noreturn]] void read_and_say(const std::string& path, int out) {
  std::string message = "read";
  try {
    read_weights(path);
  } catch (const Error& error) {
    message = error.code() == Exit::data ? error.what() : "another error";
  } catch (const std::exception& error) {
    message = std::string("a bug: ") + error.what();
  }
  message.resize(std::min<std::size_t>(message.size(), 1000));
  ::_exit(::write(out, message.data(), message.size()) < 0);
}

struct Reading {
  std::string message;
  double seconds = 0;
  long kilobytes = 0;
};

Reading read_in_child(const std::string& path) {
  rusage before{}, used{};
  ::getrusage(RUSAGE_SELF, &before);
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const auto child = ::fork();
  if (child == 0) read_and_say(path, pipe[1]);
  ::close(pipe[1]);
  char buffer[1024] = {};
  const auto got = ::read(pipe[0], buffer, sizeof buffer - 1);
  ::close(pipe[0]);
  int status = 0;
  EXPECT_EQ(::wait4(child, &status, 0, &used), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return {got > 0 ? std::string(buffer) : "nothing",
          seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss - before.ru_maxrss};
}

/// What the reader says, within the limits. What else a machine does makes a process slower, never
/// faster: the best of three counts.
std::string said_to(const std::string& bytes, const std::string& name = "x.pth") {
  const TemporaryFolder folder;
  write_bytes(folder / name, bytes);
  auto reading = read_in_child(folder / name);
  for (int i = 1; i < 3 && reading.seconds > kMostSeconds; ++i)
    if (auto again = read_in_child(folder / name); again.seconds < reading.seconds)
      reading = std::move(again);
  EXPECT_LE(reading.seconds, kMostSeconds);
  EXPECT_LE(reading.kilobytes, kMostKilobytes);
  EXPECT_THAT(reading.message, AnyOf("read", HasSubstr(name)));
  return reading.message;
}

std::string times(std::size_t count, const std::string& piece) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += piece;
  return all;
}

constexpr std::size_t kMebibyte = 1 << 20;

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

TEST(HostileZip, AFlippedBitIsSeen) {
  const auto weight = dict(text("w") + tensor(storage("Float", "2"), {"2"}, {"1"}));
  auto bytes = file(weight, "12345678");
  bytes[bytes.find("12345678") + 3] ^= 1;
  EXPECT_THAT(
      said_to(bytes),
      EndsWith(
          "x.pth' is no sound zip file: 'data/0' is damaged: its checksum (CRC-32) is another"));
}

TEST(HostileZip, UnpacksToALittleMoreThanItHas) {
  const std::string zeros(64 << 20, '\0');
  const auto weight = dict(text("w") + tensor(storage("Byte", "67108864"), {"67108864"}, {"1"}));
  EXPECT_THAT(said_to(zip({{"a/data.pkl", weight}, {"a/data/0", zeros, true}})),
              EndsWith("x.pth' is no sound zip file: it would unpack to more than 32 times its "
                       "size; torch writes without compression"));
  std::vector<ZipEntry> many;
  for (int i = 0; i < 100; ++i)
    many.push_back({"a/data/" + std::to_string(i), std::string(1 << 20, '\0'), true});
  EXPECT_THAT(said_to(zip(many)),
              EndsWith("x.pth' is no sound zip file: it would unpack to more than 32 times its "
                       "size; torch writes without compression"));
  const auto small = dict(text("w") + tensor(storage("Float", "2"), {"2"}, {"1"}));
  EXPECT_EQ(said_to(zip({{"a/data.pkl", small, true}, {"a/data/0", "12345678", true}})), "read");
}

TEST(HostileZip, NamesAreThereAndOnce) {
  EXPECT_THAT(said_to(zip({{"", "x"}})),
              EndsWith("x.pth' is no sound zip file: an entry has no name"));
  EXPECT_THAT(said_to(zip({{"a/x", "1"}, {"a/x", "2"}})),
              EndsWith("x.pth' is no sound zip file: 'a/x' comes twice"));
}

/// A zip file whose directory has other bytes at `at` of its first entry.
std::string with_entry(std::string bytes, std::size_t at, const std::string& other) {
  return bytes.replace(bytes.find("PK\1\2") + at, other.size(), other);
}

/// With a ZIP64 field for the size of its only entry.
std::string with_large_size(std::string bytes, std::uint64_t size) {
  bytes = with_entry(with_entry(bytes, 24, std::string(4, '\xff')), 30, std::string("\x0c\0", 2));
  const auto directory = bytes.find("PK\1\2"), end = bytes.rfind("PK\5\6");
  const auto whole = static_cast<std::uint32_t>(end - directory + 12);
  bytes.replace(end + 12, 4, little_endian(whole));
  return bytes.insert(end, std::string("\1\0\x08\0", 4) + little_endian(size));
}

// APPNOTE 4.4.3: the newest version is 6.3; Python's zipfile refuses what needs another.
TEST(HostileZip, VersionsAreThoseOfTheFormat) {
  const auto weight = dict(text("w") + tensor(storage("Float", "1"), {"1"}, {"1"}));
  const auto whole = file(weight, "1234");
  const auto with_version = [&](std::size_t at, int version) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(version & 0xff);
    bytes[at + 1] = static_cast<char>(version >> 8);
    return said_to(bytes);
  };
  for (const auto& [start, field] :
       {std::pair(whole.find("PK\1\2"), 6), std::pair(whole.find("PK\3\4"), 4)}) {
    const auto at = start + static_cast<std::size_t>(field);
    for (const int version : {0, 20, 45, 63}) EXPECT_EQ(with_version(at, version), "read");
    for (const int version : {64, 99, 255, 0x6363, 0xffff})
      EXPECT_THAT(with_version(at, version), HasSubstr("version")) << version;
  }
}

TEST(HostileZip, SizesAreThereAndFit) {
  const auto one = zip({{"a/x", "1"}});
  EXPECT_THAT(said_to(with_entry(one, 24, std::string(4, '\xff'))),
              EndsWith("x.pth' is no sound zip file: 'a/x' has no size"));
  const auto many = little_endian(std::uint32_t{1'000'000});
  EXPECT_THAT(said_to(with_entry(one, 20, many + many)),
              EndsWith("x.pth' is no sound zip file: 'x' claims more bytes than the file has"));
  EXPECT_THAT(said_to(with_large_size(zip({{"a/x", "1", true}}), std::uint64_t{1} << 32)),
              EndsWith("x.pth' is no sound zip file: 'a/x' is too large to be compressed"));
}

TEST(HostileZip, CutOrChangedAnywhereItIsReadOrRefused) {
  const auto whole =
      file(dict(text("w") + tensor(storage("Float", "2"), {"2"}, {"1"})), "12345678");
  const TemporaryFolder folder;
  const auto is_read = [&](const std::string& bytes) {
    write_bytes(folder / "x.pth", bytes);
    try {
      read_weights(folder / "x.pth");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      return false;
    }
    return true;
  };
  EXPECT_TRUE(is_read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(is_read(whole.substr(0, size))) << size;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      is_read(bytes);
    }
}

// ---- safetensors

std::string safetensors_of(const std::string& json, const std::string& data = "") {
  return little_endian(static_cast<std::uint64_t>(json.size())) + json + data;
}

TEST(HostileSafetensors, ManyTensorsAreReadInLinearTime) {
  std::string json = "{";
  std::string data;
  for (int i = 0; i < 20'000; ++i) {
    const auto at = std::to_string(i);
    json += (i > 0 ? "," : "") + std::string("\"layer.") + at +
            R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + at + "," + std::to_string(i + 1) +
            "]}";
    data += 'x';
  }
  EXPECT_EQ(said_to(safetensors_of(json + "}", data), "x.safetensors"), "read");
}

TEST(HostileSafetensors, ManyKeysAreRefusedInLinearTime) {
  std::string keys;
  for (int i = 0; i < 60'000; ++i) keys += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  EXPECT_EQ(said_to(safetensors_of("{\"__metadata__\":{" + keys + "}}"), "x.safetensors"), "read");
  EXPECT_THAT(
      said_to(safetensors_of("{\"w\":{" + keys + "}}"), "x.safetensors"),
      EndsWith("x.safetensors' is no sound safetensors file: tensor 'w' has the unknown key '0'"));
  EXPECT_THAT(
      said_to(safetensors_of("{" + keys + "}"), "x.safetensors"),
      EndsWith(
          "x.safetensors' is no sound safetensors file: tensor '0' is not described by an object"));
}

TEST(HostileSafetensors, TextBehindANulIsNotIgnored) {
  EXPECT_THAT(
      said_to(safetensors_of(std::string("{}\0{\"w\":1}", 10)), "x.safetensors"),
      EndsWith("x.safetensors' is no sound safetensors file: there is a NUL in its header"));
  EXPECT_THAT(said_to(safetensors_of("{} {}"), "x.safetensors"),
              EndsWith("x.safetensors' is no sound safetensors file: its header is not JSON"));
  EXPECT_EQ(said_to(safetensors_of("{}      "), "x.safetensors"), "read");
}

}  // namespace
}  // namespace ddptrain
