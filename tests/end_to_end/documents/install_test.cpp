// An installed tree runs from any folder, on any machine with this C library.
#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;

std::string said_by(const std::string& program, const std::vector<std::string>& words,
                    const std::string& folder) {
  return Program(words, folder, {}, program).wait().out;
}

class Install : public testing::Test {
 protected:
  void SetUp() override {
    const auto installed = Program({"--install", test::build_folder(), "--prefix", folder_ / "usr"},
                                   folder_.path(), {}, "cmake")
                               .wait();
    ASSERT_EQ(installed.code, 0) << installed.err;
    fs::rename(folder_ / "usr", folder_ / "moved");
  }
  const Folder folder_;
  const std::string tree_ = folder_ / "moved";
};

TEST_F(Install, AMovedTreeTrainsAndHoldsItsSchema) {
  const auto program = tree_ + "/bin/ddptrain", share = tree_ + "/share/ddptrain";
  EXPECT_EQ(said_by(program, {"schema"}, folder_.path()), read(share + "/schemas/recipe.json"));
  const auto trained = Program({"run", share + "/configs/quickstart.yaml", "data.root=" + shapes(),
                                "train.duration=1 step", "~expect"},
                               folder_.path(), {}, program)
                           .wait();
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(exists(folder_ / "runs/quickstart/001/checkpoints/step-00000001"));
  EXPECT_TRUE(exists(tree_ + "/share/bash-completion/completions/ddptrain"));
  EXPECT_TRUE(exists(tree_ + "/share/doc/ddptrain/LICENSE"));
}

// The loader of the system looks there where an entry of a library's path is empty.
TEST_F(Install, LoadsNoLibraryOfTheCurrentFolder) {
  for (const auto* name : {"libpng16.so.16", "libz.so.1", "libtorch_cpu.so", "libstdc++.so.6"})
    write(folder_ / name, "no library");
  // Under another name than the one that a server of these tests has loaded before.
  for (const auto& program : {tree_ + "/bin/ddptrain", test::build_folder() + "/./ddptrain"}) {
    const auto ended = Program({"doctor"}, folder_.path(), {}, program).wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
}

/// Of a make that knows nothing of the one that these tests may run under.
std::string commands_of(std::vector<std::string> words, const std::string& folder) {
  words.insert(words.begin(), {"-u", "MAKEFLAGS", "-u", "TORCH", "-u", "BUILD", "make", "-n"});
  return said_by("env", words, folder);
}

// CMake refuses a cache of another folder: "The source ... does not match the source ... used to
// generate cache".
TEST(Makefile, ConfiguresACheckoutThatWasMovedAnew) {
  const Folder folder;
  fs::copy(test::in_source("Makefile"), folder / "Makefile");
  const auto configuring = [&] {
    return commands_of({"configure"}, folder.path()).find("cmake --fresh") != std::string::npos;
  };
  EXPECT_FALSE(configuring());
  fs::create_directories(folder / "build");
  const std::string home = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  write(folder / "build/CMakeCache.txt", home + "/no/such/checkout\n");
  EXPECT_TRUE(configuring());
  write(folder / "build/CMakeCache.txt", home + "/tmp\n");
  EXPECT_TRUE(configuring());
  write(folder / "build/CMakeCache.txt", home + fs::canonical(folder.path()).string() + "\n");
  EXPECT_FALSE(configuring());
}

TEST(Makefile, BuildsWithAnotherLibTorchInAFolderOfItsOwn) {
  const auto root = test::in_source(".");
  EXPECT_EQ(commands_of({"build"}, root), commands_of({"build", "TORCH=2.11.0"}, root));
  const auto other = commands_of({"build", "TORCH=2.15.0"}, root);
  for (const char* part : {"TORCH=2.15.0 scripts/setup\n", "-B build-torch-2.15.0 -DTORCH=2.15.0 ",
                           "ninja -C build-torch-2.15.0 "})
    EXPECT_THAT(other, testing::HasSubstr(part));
}

TEST(Setup, NamesTheVersionsOfLibTorchThatItHas) {
  const auto ended =
      Program({}, test::in_source("."), {{"TORCH", "2.3"}}, test::in_source("scripts/setup"))
          .wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err,
            "setup: TORCH=2.3 is not a version that ddptrain builds with; it has 2.11.0, "
            "2.15.0\n");
}

/// All but the C library's parts come from the tree, and no library is looked for elsewhere.
TEST_F(Install, AMovedTreeHoldsItsLibraries) {
  for (const auto& entry : fs::recursive_directory_iterator(tree_)) {
    const auto path = entry.path().string();
    if (!entry.is_regular_file() ||
        (path.find(".so") == std::string::npos && entry.path().filename() != "ddptrain"))
      continue;
    const auto dynamic = said_by("readelf", {"-d", path}, folder_.path());
    for (auto at = dynamic.find("path: ["); at != std::string::npos;
         at = dynamic.find("path: [", at + 1))
      EXPECT_EQ(dynamic.compare(at + 7, 7, "$ORIGIN"), 0) << path << "\n" << dynamic;
    EXPECT_THAT(dynamic, testing::Not(testing::HasSubstr("path: [/"))) << path;
    EXPECT_THAT(dynamic, testing::Not(testing::HasSubstr(":/"))) << path << "\n" << dynamic;
  }
  const auto needed =
      said_by("ldd", {tree_ + "/lib/ddptrain/libddptrain_engine.so"}, folder_.path());
  for (const char* library : {"libtorch_cpu", "libc10", "libyaml-cpp", "libstdc++", "libgomp"})
    EXPECT_THAT(needed, testing::HasSubstr(tree_ + "/lib/ddptrain/" + library)) << needed;
  const auto of_program = said_by("readelf", {"-d", tree_ + "/bin/ddptrain"}, folder_.path());
  for (const char* library : {"libtorch", "libstdc++", "libgcc_s", "libfmt", "libyaml"})
    EXPECT_THAT(of_program, testing::Not(testing::HasSubstr(library))) << of_program;
}

/// What the program says with a file of lib/ddptrain out of the way, or another in its place.
class Broken : public Install {
 protected:
  std::string error_without(const std::string& library, const std::string& instead = {},
                            const std::vector<std::string>& words = {"doctor"},
                            const std::map<std::string, std::string>& environment = {}) {
    const auto path = tree_ + "/lib/ddptrain/" + library;
    fs::rename(path, path + ".away");
    if (!instead.empty()) fs::copy_file(instead, path);
    const auto ended = Program(words, folder_.path(), environment, program_).wait();
    fs::remove(path);
    fs::rename(path + ".away", path);
    EXPECT_EQ(ended.code, 4);
    EXPECT_EQ(ended.out, "");
    return ended.err;
  }
  const std::string program_ = tree_ + "/bin/ddptrain";
};

TEST_F(Broken, InstallationsAreToldFromEachOther) {
  EXPECT_EQ(error_without("libddptrain_engine.so"),
            "error: 'doctor' needs libddptrain_engine.so, which is not installed next to this "
            "program; without it ddptrain only reads recipes and run folders ('pip install "
            "ddptrain', or 'make' in its source)\n");
  EXPECT_EQ(error_without("libddptrain_engine.so", {},
                          {"plan", tree_ + "/share/ddptrain/recipes/houses.yaml"}),
            "error: 'plan' without --samples N needs libddptrain_engine.so, which is not installed "
            "next to this program; without it ddptrain only reads recipes and run folders ('pip "
            "install ddptrain', or 'make' in its source)\n");
  const auto version = test::torch_version();
  EXPECT_EQ(error_without("libtorch_cpu.so"),
            "error: 'doctor' needs libddptrain_engine.so, which finds no LibTorch " + version +
                " (libtorch_cpu.so: cannot open shared object file: No such file or directory); "
                "'pip install torch==" +
                version + "' or 'make setup TORCH=" + version + "' brings it\n");
  EXPECT_EQ(error_without("libtorch_cpu.so", {}, {"doctor"},
                          {{"DDPTRAIN_TORCH_PROBLEM", "torch is missing: install it"}}),
            "error: 'doctor' needs libddptrain_engine.so, and torch is missing: install it\n");
  EXPECT_EQ(error_without("libddptrain_engine.so", test::build_folder() + "/libother_engine.so"),
            "error: 'doctor' needs libddptrain_engine.so, and the one next to this program is of "
            "version 99.0.0, not 0.1.0; install both from one package\n");
  const auto folder = tree_ + "/lib/ddptrain/";
  EXPECT_EQ(error_without("libddptrain_engine.so", folder + "libddptrain_parquet.so"),
            "error: 'doctor' needs libddptrain_engine.so, and the one next to this program is of "
            "version unknown, not 0.1.0; install both from one package\n");
}

/// The engine as if it had been built on a newer system: it needs `wanted` of the symbols'
/// versions.
std::string newer_engine(const std::string& path, const std::string& version,
                         const std::string& wanted) {
  auto bytes = read(path);
  for (auto at = bytes.find(version); at != std::string::npos; at = bytes.find(version, at))
    bytes.replace(at, version.size(), wanted);
  return bytes;
}

TEST_F(Broken, InstallationsNameASystemThatIsTooOld) {
  const auto folder = tree_ + "/bin/../lib/ddptrain/";  // as the program looks for it
  const auto engine = folder + "libddptrain_engine.so", newer = folder_ / "newer.so";
  write(newer, newer_engine(engine, "GLIBC_2.35", "GLIBC_2.99"));
  EXPECT_EQ(error_without("libddptrain_engine.so", newer),
            "error: 'doctor' needs libddptrain_engine.so, which needs glibc 2.99 or newer, and "
            "this system has " +
                std::string(gnu_get_libc_version()) +
                "; try the wheel ('pip install ddptrain'), or a container (docs/installing.md)\n");
  write(newer, newer_engine(engine, "GLIBCXX_3.4.30", "GLIBCXX_3.4.99"));
  EXPECT_EQ(error_without("libddptrain_engine.so", newer),
            "error: 'doctor' needs libddptrain_engine.so, which needs GLIBCXX_3.4.99, and " +
                folder +
                "libstdc++.so.6 is older; unset LD_LIBRARY_PATH if that names it, or install the "
                "libstdc++ of GCC 12 or newer\n");
}

TEST_F(Broken, InstallationsReadRecipes) {
  fs::remove(tree_ + "/lib/ddptrain/libddptrain_engine.so");
  EXPECT_EQ(said_by(program_, {"version"}, folder_.path()),
            "ddptrain 0.1.0 without its engine, to read recipes and run folders\n");
  const auto recipe = tree_ + "/share/ddptrain/recipes/houses.yaml";
  EXPECT_EQ(said_by(program_, {"validate", recipe}, folder_.path()), recipe + ": good\n");
}

/// Sources of the program and headers of LibTorch have no folder in messages and checks.
TEST_F(Install, NoFileNamesTheFolderOfTheBuildOrOfAHome) {
  std::vector<std::string> words{"-rlaF", "--exclude=*.so*",     "-e", test::build_folder(),
                                 "-e",    test::in_source("src")};
  if (const char* home = std::getenv("HOME"); home && std::string(home).size() > 1)
    words.insert(words.end(), {"-e", std::string(home) + "/"});
  words.push_back(tree_);
  EXPECT_EQ(said_by("grep", words, folder_.path()), "");
}

}  // namespace
}  // namespace ddptrain::end_to_end
