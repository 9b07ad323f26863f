// Inputs given by mistake: pipes and devices instead of files, names that are no text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A recipe for images in FOLDER/data, with what else is to be written.
std::string recipe_of_images(const std::string& more = "") {
  return "model: {type: mnist_net, num_classes: auto}\n"
         "data: {type: image_folder, root: data, valid: {fraction: 0.5}, transforms: "
         "{train: [{type: resize, size: 32}], valid: [{type: resize, size: 32}]}}\n"
         "batch: {global: 2}\ntrain: {duration: 1 steps}\nloss: cross_entropy\n"
         "optimizer: {type: sgd, lr: 0.1}\n" +
         more;
}

/// FOLDER/data/train with two classes of two images each, the second one named so.
void put_images(const Folder& folder, const std::string& second) {
  const auto from = fs::path(shapes()) / "train";
  int number = 0;
  for (const auto& name : {std::string("a"), second}) {
    const auto to = fs::path(folder / "data") / "train" / name;
    fs::create_directories(to);
    const auto source = (from / list(from.string())[static_cast<std::size_t>(number++)]).string();
    const auto files = list(source);
    for (int i = 0; i < 2; ++i)
      fs::copy_file(fs::path(source) / files[static_cast<std::size_t>(i)],
                    to / files[static_cast<std::size_t>(i)]);
  }
}

TEST(Inputs, AClassFolderThatIsNoTextIsRefusedBeforeTraining) {
  const Folder folder;
  put_images(folder, "b\xff");
  write(folder / "a.yaml", recipe_of_images());
  const auto ended = run({"run", "a.yaml"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("class 'b\\xff' is not UTF-8 text; rename its folder"));
}

TEST(Inputs, AClassFolderDoesNotSteerTheTerminal) {
  const Folder folder;
  put_images(folder, "\x1b[2Jb\n::error::c");
  write(folder / "a.yaml", recipe_of_images());
  const auto ended = run({"data", "stats", "a.yaml"}, folder.path(), environment());
  const auto all = ended.out + ended.err;
  EXPECT_EQ(all.find('\x1b'), std::string::npos);
  EXPECT_EQ(all.find("\n::"), std::string::npos);
}

TEST(Inputs, PipesAndDevicesAreRefusedAtOnce) {
  const Folder folder;
  put_images(folder, "b");
  ASSERT_EQ(::mkfifo((folder / "pipe.pth").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder / "zero.safetensors");
  write(folder / "a.yaml", recipe_of_images());
  for (const std::string name : {"pipe.pth", "zero.safetensors"}) {
    const auto ended =
        run({"run", "a.yaml", "model.weights=" + name}, folder.path(), environment());
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(name));
    EXPECT_THAT(ended.err, HasSubstr("not a regular file"));
  }
  ASSERT_EQ(::mkfifo((folder / "data/train/b/x.png").c_str(), 0600), 0);
  const auto ended = run({"data", "check", "a.yaml"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("it is a pipe"));
}

TEST(Inputs, ARecipeThatIsWaitedForEndsWithASignal) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "a.yaml").c_str(), 0600), 0);
  Program program({"run", "a.yaml"}, folder.path(), environment());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(program.running());
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().code, 128 + SIGTERM);
}

}  // namespace
}  // namespace ddptrain::end_to_end
