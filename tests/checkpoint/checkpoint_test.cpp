#include "checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/saving/save.h"
#include "checkpoint/verify.h"
#include "tensors.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refused_checkpoint(const std::string& folder) {
  try {
    load_checkpoint(folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "";
}

void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(a[i].tensor.equal(b[i].tensor)) << a[i].name;
  }
}

TEST(Checkpoint, ComesBackAsItWasSaved) {
  const TemporaryFolder folder;
  auto saved = small_checkpoint(740);
  saved.ema = {{"conv.bias", ramp({4})}};
  const auto path = save_checkpoint(folder / "checkpoints", saved);
  EXPECT_EQ(path, folder / "checkpoints/step-00000740");
  EXPECT_THAT(names_in(path), ElementsAre("MANIFEST.json", "ema.safetensors", "model.safetensors",
                                          "optimizer.safetensors", "state.json"));
  const auto back = load_checkpoint(path);
  EXPECT_EQ(back.step, 740);
  EXPECT_EQ(back.state, saved.state);
  expect_equal(back.model, saved.model);
  expect_equal(back.optimizer, saved.optimizer);
  expect_equal(back.ema, saved.ema);
}

TEST(Checkpoint, HasTheSameBytesWhenSavedTwice) {
  const TemporaryFolder folder;
  const auto a = save_checkpoint(folder / "a", small_checkpoint(1));
  const auto b = save_checkpoint(folder / "b", small_checkpoint(1));
  for (const auto& name : names_in(a))
    EXPECT_EQ(read_bytes(a + "/" + name), read_bytes(b + "/" + name)) << name;
}

TEST(Checkpoint, WithAFlippedBitAnywhereNamesTheFile) {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), small_checkpoint(5));
  for (const auto& name : names_in(path)) {
    const auto file = path + "/" + name;
    const auto bytes = read_bytes(file);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      auto damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      write_bytes(file, damaged);
      ASSERT_THAT(refused_checkpoint(path), HasSubstr("/" + name)) << "byte " << i;
    }
    write_bytes(file, bytes);
  }
  EXPECT_EQ(refused_checkpoint(path), "");
}

TEST(Checkpoint, WithADamagedTensorNamesIt) {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), small_checkpoint(5));
  const auto file = path + "/model.safetensors";
  auto bytes = read_bytes(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // the narrowest, last-laid tensor
  write_bytes(file, bytes);
  EXPECT_EQ(refused_checkpoint(path),
            "'" + file +
                "' is damaged: its checksums are not those of MANIFEST.json (tensor 'conv.bias')");
}

TEST(Checkpoint, CutAnywhereNamesTheFile) {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), small_checkpoint(5));
  for (const auto& name : names_in(path)) {
    const auto bytes = read_bytes(path + "/" + name);
    for (std::size_t size = 0; size < bytes.size(); size += 7) {
      write_bytes(path + "/" + name, bytes.substr(0, size));
      ASSERT_THAT(refused_checkpoint(path), HasSubstr("/" + name)) << size << " bytes";
    }
    write_bytes(path + "/" + name, bytes + "x");
    EXPECT_THAT(refused_checkpoint(path), HasSubstr("/" + name)) << "longer";
    write_bytes(path + "/" + name, bytes);
  }
}

TEST(Checkpoint, WithAMissingOrExchangedFileNamesIt) {
  const TemporaryFolder folder;
  const auto one = save_checkpoint(folder.path(), small_checkpoint(1));
  const auto two = save_checkpoint(folder.path(), small_checkpoint(2));
  for (const auto& name : names_in(two)) {
    const auto file = two + "/" + name;
    const auto bytes = read_bytes(file);
    fs::remove(file);
    EXPECT_THAT(refused_checkpoint(two), HasSubstr("/" + name));
    fs::create_directory(file);
    EXPECT_THAT(refused_checkpoint(two), HasSubstr("/" + name)) << "a folder in its place";
    fs::remove(file);
    if (read_bytes(one + "/" + name) != bytes) {
      write_bytes(file, read_bytes(one + "/" + name));
      EXPECT_NE(refused_checkpoint(two), "") << name << " of another step";
    }
    write_bytes(file, bytes);
  }
  EXPECT_EQ(refused_checkpoint(two), "");
  fs::rename(one, folder / "step-00000009");
  const auto renamed = folder / "step-00000009";
  EXPECT_EQ(refused_checkpoint(renamed), "'" + renamed + "' holds step 1 by its manifest");
}

// With a digest of its own that is right: the program that wrote it left the file out.
TEST(Checkpoint, WhoseManifestLacksAFileThatEveryOneHasIsRefused) {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), small_checkpoint(3));
  const auto file = path + "/MANIFEST.json";
  const auto whole = parse_manifest(read_text(file), file);
  for (const std::string name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    auto manifest = whole;
    std::erase_if(manifest.files, [&](const ManifestFile& each) { return each.name == name; });
    std::filesystem::remove(file);
    write_file(file, to_text(manifest));
    const auto expected = "'" + file + "' does not list '" + name + "'";
    EXPECT_EQ(refused_checkpoint(path), expected);
    EXPECT_THAT(damages_of(path), testing::Contains(expected));
    std::vector<std::string> notes;
    EXPECT_FALSE(newest_checkpoint(folder.path(), notes));
  }
}

TEST(NewestCheckpoint, FallsBackToOneThatVerifiesAndSaysSo) {
  const TemporaryFolder folder;
  const auto one = save_checkpoint(folder.path(), small_checkpoint(1));
  const auto two = save_checkpoint(folder.path(), small_checkpoint(2));
  const auto three = save_checkpoint(folder.path(), small_checkpoint(3));
  write_bytes(three + "/state.json", "{}");
  fs::remove(two + "/MANIFEST.json");
  std::vector<std::string> notes;
  EXPECT_EQ(newest_checkpoint(folder.path(), notes), one);
  EXPECT_THAT(notes,
              testing::ElementsAre("the checkpoint '" + three + "' is not used: '" + three +
                                       "/state.json' has 2 bytes, MANIFEST.json says 16",
                                   "the checkpoint '" + two + "' is not used: cannot read '" + two +
                                       "/MANIFEST.json': no such file or directory"));
}

TEST(NewestCheckpoint, OfNothingIsNothing) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  EXPECT_EQ(newest_checkpoint(folder / "none", notes), std::nullopt);
}

TEST(SaveCheckpoint, ReplacesADamagedOneAndLeavesASoundOneAlone) {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), small_checkpoint(1));
  const auto written = fs::last_write_time(path + "/state.json");
  save_checkpoint(folder.path(), small_checkpoint(1));
  EXPECT_EQ(fs::last_write_time(path + "/state.json"), written);
  write_bytes(path + "/state.json", "{}");
  save_checkpoint(folder.path(), small_checkpoint(1));
  EXPECT_EQ(refused_checkpoint(path), "");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000001"));
}

TEST(SaveCheckpoint, ReplacesAnotherOneOfTheSameStep) {
  const TemporaryFolder folder;
  auto checkpoint = small_checkpoint(1);
  save_checkpoint(folder.path(), checkpoint);
  link_best(folder.path(), checkpoint_name(1));
  checkpoint.ema = {{"conv.bias", ramp({4})}};
  const auto path = save_checkpoint(folder.path(), checkpoint);
  expect_equal(load_checkpoint(path).ema, checkpoint.ema);
  expect_equal(load_checkpoint(folder / "best").ema, checkpoint.ema);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("best", "step-00000001"));
}

TEST(SaveCheckpoint, SweepsWhatAKilledProcessLeft) {
  const TemporaryFolder folder;
  fs::create_directories(folder / ".tmp-step-00000001");
  write_bytes(folder / ".tmp-step-00000001/model.safetensors", "half");
  save_checkpoint(folder.path(), small_checkpoint(1));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000001"));
}

// In a child whose files may not grow beyond `bytes`.
int save_with_limit(const std::string& root, rlim_t bytes) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      save_checkpoint(root, small_checkpoint(2));
    } catch (const Error& error) {
      ::_exit(static_cast<int>(error.code()));
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(SaveCheckpoint, LeavesNothingHalfWrittenWhereverTheDiskIsFull) {
  const TemporaryFolder folder;
  const auto one = save_checkpoint(folder.path(), small_checkpoint(1));
  bool failed = false, succeeded = false;
  for (rlim_t bytes = 0; bytes < 1500 && !succeeded; bytes += 37) {
    const int code = save_with_limit(folder.path(), bytes);
    if (code == 0) {
      succeeded = true;
      continue;
    }
    failed = true;
    ASSERT_EQ(code, 3);
    ASSERT_THAT(names_in(folder.path()), ElementsAre("step-00000001")) << bytes << " bytes";
    ASSERT_EQ(refused_checkpoint(one), "");
  }
  EXPECT_TRUE(failed);
  EXPECT_TRUE(succeeded);
}

TEST(SaveCheckpoint, KilledAnywhereLeavesOnlyCompleteOnes) {
  const TemporaryFolder folder;
  for (int kill = 0; kill < 25; ++kill) {
    const pid_t child = ::fork();
    if (child == 0)
      for (std::int64_t step = 100 * kill;; ++step) {
        save_checkpoint(folder.path(), small_checkpoint(step));
        prune_checkpoints(folder.path(), 2, "");
      }
    ::usleep(20'000 + 3'517 * static_cast<unsigned>(kill));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const auto& path : list_checkpoints(folder.path()))
      ASSERT_EQ(refused_checkpoint(path), "") << path;
  }
  EXPECT_FALSE(list_checkpoints(folder.path()).empty());
}

TEST(SaveCheckpoint, InAPlaceThatIsNoFolderNamesIt) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "");
  try {
    save_checkpoint(folder / "file/checkpoints", small_checkpoint(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_STREQ(error.what(),
                 ("cannot make the folder '" + (folder / "file/checkpoints") + "': not a directory")
                     .c_str());
  }
}

TEST(SaveCheckpoint, LooksAtTheDiskBeforeItWrites) {
  const TemporaryFolder folder;
  auto larger = small_checkpoint(1);
  const std::int64_t count = std::int64_t{1} << 58;  // a view of one element
  larger.model = {{"w", ramp({1}).expand({count})}};
  EXPECT_THAT(
      [&] { save_checkpoint(folder.path(), larger); },
      testing::ThrowsMessage<Error>(
          AllOf(testing::StartsWith("no space for a checkpoint in '" + folder.path() +
                                    "': 1024.0 PiB are needed, "),
                testing::EndsWith(" are free; delete something, or choose another 'output.dir'"))));
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(CopyCheckpoint, ThatIsGoneLeavesNothing) {
  const TemporaryFolder folder;
  const auto gone = folder / "step-00000001", root = folder / "copies";
  EXPECT_THAT([&] { copy_checkpoint(gone, root); },
              testing::ThrowsMessage<Error>("cannot copy '" + gone + "' to '" + root +
                                            "': No such file or directory"));
  EXPECT_THAT(names_in(root), ElementsAre());
}

TEST(PruneCheckpoints, KeepsTheLastAndTheBest) {
  const TemporaryFolder folder;
  for (const auto step : {1, 2, 3, 4, 5}) save_checkpoint(folder.path(), small_checkpoint(step));
  prune_checkpoints(folder.path(), 2, "step-00000002");
  EXPECT_THAT(names_in(folder.path()),
              ElementsAre("step-00000002", "step-00000004", "step-00000005"));
  prune_checkpoints(folder.path(), 0, "");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000005"));
}

TEST(PruneCheckpoints, KeepsWhatTheLinkPointsAt) {
  const TemporaryFolder folder;
  for (const auto step : {1, 2, 3}) save_checkpoint(folder.path(), small_checkpoint(step));
  link_best(folder.path(), folder / "step-00000003");
  link_best(folder.path(), folder / "step-00000001");
  EXPECT_EQ(fs::read_symlink(folder / "best"), "step-00000001");
  prune_checkpoints(folder.path(), 1, "");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("best", "step-00000001", "step-00000003"));
  EXPECT_EQ(load_checkpoint(folder / "best").step, 1);
}

TEST(PruneCheckpoints, DeletesNothingWhileTheNewestIsDamaged) {
  const TemporaryFolder folder;
  for (const auto step : {1, 2}) save_checkpoint(folder.path(), small_checkpoint(step));
  write_bytes(folder / "step-00000002/state.json", "{}");
  prune_checkpoints(folder.path(), 1, "");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000001", "step-00000002"));
}

TEST(Restore, CopiesIntoTheLiveTensors) {
  const auto saved = small_checkpoint(3).model;
  auto live = small_checkpoint(9).model;
  const auto handle = live[0].tensor.set_requires_grad(true);
  restore(saved, live, "the model");
  EXPECT_TRUE(handle.equal(saved[0].tensor));
}

std::string misfit(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live) {
  try {
    restore(saved, live, "the model");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Restore, SaysBothShapesAndBothNames) {
  EXPECT_EQ(misfit({{"conv1.weight", ramp({4, 3})}}, {{"conv1.weight", ramp({4, 1})}}),
            "the model does not fit what was saved: 'conv1.weight' has shape [4, 3] there and "
            "[4, 1] here");
  EXPECT_EQ(misfit({{"conv1.weight", ramp({1})}}, {{"conv2.weight", ramp({1})}}),
            "the model does not fit what was saved: 'conv2.weight' is not there, 'conv1.weight' "
            "is; 'conv1.weight' is there and not here");
}

TEST(Restore, ChangesNothingWhereOneTensorDoesNotFit) {
  const std::vector<NamedTensor> live{{"a", ramp({2})}, {"b", ramp({2})}};
  EXPECT_NE(misfit({{"a", ramp({2}).add(1)}, {"b", ramp({3})}}, live), "");
  EXPECT_TRUE(live[0].tensor.equal(ramp({2})));
}

}  // namespace
}  // namespace ddptrain
