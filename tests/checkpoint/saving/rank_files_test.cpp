// Checkpoints in which each rank has a file of its own: the same image, other places.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files/files.h"
#include "base/files/mapping_guard.h"
#include "checkpoint/manifest.h"
#include "checkpoint/saving/consolidate.h"
#include "checkpoint/saving/part_shares.h"
#include "checkpoint/saving/shared_storage.h"
#include "checkpoint/saving/together.h"
#include "checkpoint/tensor_image.h"
#include "checkpoint/verify.h"
#include "checkpoint/weights.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

SaveOptions per_rank(std::int64_t largest_file = kLargestFile) {
  return {largest_file, CheckpointFiles::per_rank};
}

std::map<std::string, std::string> bytes_of_files(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& name : names_in(folder)) files[name] = read_bytes(folder + "/" + name);
  return files;
}

Manifest manifest_at(const std::string& folder) {
  return parse_manifest(read_text(folder + "/MANIFEST.json"), folder + "/MANIFEST.json");
}

void expect_same_tensors(const Checkpoint& found, const Checkpoint& expected) {
  for (const auto& file : kTensorFiles) {
    const auto &a = found.*file.tensors, &b = expected.*file.tensors;
    ASSERT_EQ(a.size(), b.size()) << file.stem;
    for (const auto& [name, tensor] : b)
      EXPECT_TRUE(std::ranges::any_of(a,
                                      [&](const auto& each) {
                                        return each.name == name &&
                                               each.tensor.sizes() == tensor.sizes() &&
                                               each.tensor.equal(tensor);
                                      }))
          << file.stem << " " << name;
  }
  EXPECT_EQ(found.state, expected.state);
}

TEST(RankFiles, HoldOneCheckpointThatIsReadAsAnyOther) {
  const auto checkpoint = larger_checkpoint();
  for (const std::int64_t largest : {kLargestFile, std::int64_t{1} << 20})
    for (const int writers : {1, 2, 3, 5}) {
      const TemporaryFolder folder;
      const auto paths =
          save_together(folder.path(), divided(checkpoint, writers), per_rank(largest));
      const auto& path = paths[0];
      ASSERT_EQ(refusal_of(path), "") << writers;
      EXPECT_THAT(damages_of(path), ElementsAre());
      expect_same_tensors(load_checkpoint(path), checkpoint);
      expect_same_tensors(map_checkpoint(path), checkpoint);
      EXPECT_EQ(read_saved_weights(path, Calls::refused).tensors.size(), checkpoint.model.size());
      std::vector<std::string> expected{"MANIFEST.json"};
      for (int rank = 0; rank < writers; ++rank) expected.push_back(rank_file_name(rank, writers));
      expected.emplace_back("state.json");
      EXPECT_EQ(names_in(path), expected);
      EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000007"));
    }
}

TEST(RankFiles, ConsolidatedHaveTheBytesOfSharedFiles) {
  const auto checkpoint = larger_checkpoint();
  for (const std::int64_t largest : {kLargestFile, std::int64_t{1} << 20}) {
    const TemporaryFolder folder;
    const auto shared = save_checkpoint(folder / "shared", checkpoint, {largest});
    const auto ranks =
        save_together(folder / "ranks", divided(checkpoint, 3), per_rank(largest))[0];
    const auto whole = folder / "whole/step-00000007";
    consolidate_checkpoint(ranks, verify_checkpoint(ranks), whole);
    EXPECT_EQ(bytes_of_files(whole), bytes_of_files(shared));
    EXPECT_THROW(consolidate_checkpoint(ranks, manifest_at(ranks), whole), Error) << "is there";
    EXPECT_THAT(names_in(folder / "whole"), ElementsAre("step-00000007"));
  }
}

TEST(RankFiles, HaveTheSameBytesWhenSavedTwice) {
  const TemporaryFolder folder;
  const auto parts = divided(larger_checkpoint(), 3);
  const auto a = save_together(folder / "a", parts, per_rank())[0];
  const auto b = save_together(folder / "b", parts, per_rank())[0];
  EXPECT_EQ(bytes_of_files(a), bytes_of_files(b));
  const auto written = fs::last_write_time(a + "/state.json");
  save_together(folder / "a", parts, per_rank());
  EXPECT_EQ(fs::last_write_time(a + "/state.json"), written) << "an equal one is left alone";
}

/// The bytes of a rank's file that mean something.
std::vector<bool> meaningful(const Manifest& manifest, std::int64_t rank) {
  std::vector<bool> bytes(
      static_cast<std::size_t>(manifest.rank_bytes[static_cast<std::size_t>(rank)]));
  for (const auto& file : manifest.files)
    for (const auto& range : file.ranges)
      for (std::int64_t i = 0; range.rank == rank && i < range.count; ++i)
        bytes[static_cast<std::size_t>(range.at + i)] = true;
  return bytes;
}

TEST(RankFiles, WithAFlippedBitAnywhereNameTheFile) {
  const TemporaryFolder folder;
  const auto path = save_together(folder.path(), divided(small_checkpoint(5), 3), per_rank())[0];
  const auto manifest = manifest_at(path);
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const auto name = rank_file_name(rank, 3);
    const auto bytes = read_bytes(path + "/" + name);
    const auto means = meaningful(manifest, rank);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (!means[i]) continue;  // zeros between ranges
      auto damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      write_bytes(path + "/" + name, damaged);
      ASSERT_THAT(refusal_of(path), HasSubstr("/" + name)) << "byte " << i;
    }
    write_bytes(path + "/" + name, bytes);
  }
  EXPECT_EQ(refusal_of(path), "");
}

TEST(RankFiles, DamagedInOneRankNameThatAndTheTensor) {
  const TemporaryFolder folder;
  Checkpoint checkpoint = small_checkpoint(2);
  checkpoint.model = {{"large", ramp({3, 1 << 20})}};  // 12 blocks, 4 a writer
  std::vector<CheckpointParts> parts;
  for (int rank = 0; rank < 3; ++rank) parts.push_back(share_of(parts_of(checkpoint), rank, 3));
  const auto path = save_together(folder.path(), parts, per_rank())[0];
  const auto file = path + "/rank-00001-of-00003.bin";
  auto bytes = read_bytes(file);
  bytes[bytes.size() / 2] ^= 4;
  write_bytes(file, bytes);
  EXPECT_EQ(refusal_of(path), "'" + file +
                                  "' is damaged: its checksums are not those of MANIFEST.json "
                                  "(tensor 'large')");
  EXPECT_EQ(damages_of(path).size(), 1U);
}

TEST(RankFiles, ThatAreMissingOrCutAreNamed) {
  const TemporaryFolder folder;
  const auto path = save_together(folder.path(), divided(small_checkpoint(5), 3), per_rank())[0];
  for (const auto& name : names_in(path)) {
    const auto file = path + "/" + name;
    const auto bytes = read_bytes(file);
    fs::remove(file);
    EXPECT_THAT(refusal_of(path), HasSubstr("/" + name));
    EXPECT_THAT(damages_of(path), ElementsAre(HasSubstr("/" + name + "' is missing")));
    fs::create_directory(file);
    EXPECT_THAT(refusal_of(path), HasSubstr("/" + name)) << "a folder in its place";
    fs::remove(file);
    for (const std::size_t size : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
      write_bytes(file, bytes.substr(0, size));
      EXPECT_THAT(refusal_of(path), HasSubstr("/" + name)) << size << " bytes";
    }
    write_bytes(file, bytes);
  }
  EXPECT_EQ(refusal_of(path), "");
}

/// Whole tensors, by the first and the second writer alternately.
std::vector<CheckpointParts> alternating(const Checkpoint& checkpoint) {
  const auto whole = parts_of(checkpoint);
  std::vector<CheckpointParts> parts(2);
  for (auto& each : parts) each.step = whole.step;
  parts[0].state = whole.state;
  std::size_t count = 0;
  for (const auto& file : kTensorFiles)
    for (const auto& part : whole.*file.parts) (parts[count++ % 2].*file.parts).push_back(part);
  return parts;
}

TEST(RankFiles, OfTwoSavesAreNamed) {
  const TemporaryFolder folder;
  auto other = larger_checkpoint();
  for (const auto& file : kTensorFiles)
    for (auto& [name, tensor] : other.*file.tensors)
      if (tensor.numel() > 0) tensor = tensor.add(1);
  const auto one = save_together(folder / "one", alternating(larger_checkpoint()), per_rank())[0];
  const auto two = save_together(folder / "two", alternating(other), per_rank())[0];
  const auto file = one + "/rank-00001-of-00002.bin";
  write_bytes(file, read_bytes(two + "/rank-00001-of-00002.bin"));
  EXPECT_EQ(refusal_of(one), "'" + file +
                                 "' is of another checkpoint: MANIFEST.json has other checksums of "
                                 "all tensors");
}

TEST(RankFiles, OfAManifestThatLeavesBytesOutAreRefused) {
  const TemporaryFolder folder;
  const auto path = save_together(folder.path(), divided(small_checkpoint(5), 2), per_rank())[0];
  const auto file = path + "/MANIFEST.json";
  const auto whole = manifest_at(path);
  const auto refused_with = [&](const auto& change) {
    auto manifest = whole;
    change(manifest);
    fs::remove(file);
    write_file(file, to_text(manifest));
    return refusal_of(path);
  };
  EXPECT_THAT(refused_with([](Manifest& m) { m.files[0].ranges.pop_back(); }),
              HasSubstr("'" + file + "' has ranges of 'model.safetensors' that are not all of it"));
  for (const std::int64_t rank : {2, 70'000})
    EXPECT_THAT(refused_with([&](Manifest& m) { m.files[0].ranges[0].rank = rank; }),
                HasSubstr("has a range of 'model.safetensors' that is in no file: "));
  EXPECT_THAT(refused_with([](Manifest& m) { m.files[0].ranges[0].at = INT64_MAX; }),
              HasSubstr("has a range of 'model.safetensors' that is in no file: "));
  EXPECT_THAT(refused_with([](Manifest& m) { m.rank_bytes[1] = 1; }), HasSubstr("in no file"));
}

TEST(RankFiles, ShareTheWorkOfVerifying) {
  const TemporaryFolder folder;
  const auto path = save_together(folder.path(), divided(larger_checkpoint(), 3), per_rank())[0];
  const auto file = path + "/rank-00002-of-00003.bin";
  const auto means = meaningful(manifest_at(path), 2);
  const auto bytes = read_bytes(file);
  for (std::size_t at = 0; at < bytes.size(); at += 300'000) {
    if (!means[at]) continue;
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_bytes(file, damaged);
    EXPECT_EQ(verifiers_that_refuse(path, 3), 1) << at;
  }
}

// Ranges of many pages are mapped, their ends and short ranges are read.
TEST(RankFiles, AreMappedAndStayAsTheyAreWhenTensorsAreWritten) {
  const TemporaryFolder folder;
  Checkpoint checkpoint = small_checkpoint(2);
  checkpoint.model.push_back({"large", ramp({3, 1'000'003})});
  std::vector<CheckpointParts> parts = divided(checkpoint, 4);
  const auto path = save_together(folder.path(), parts, per_rank())[0];
  const auto before = bytes_of_files(path);
  const auto mapped = map_checkpoint(path);
  for (const auto& [name, tensor] : mapped.model) at::Tensor(tensor).add_(1);
  EXPECT_EQ(bytes_of_files(path), before);
}

TEST(RankFiles, ThatAreCutWhileTheyAreMappedAreNamed) {
  const TemporaryFolder folder;
  Checkpoint checkpoint = small_checkpoint(2);
  checkpoint.model.push_back({"large", ramp({3, 1'000'003})});
  const auto path = save_together(folder.path(), divided(checkpoint, 2), per_rank())[0];
  const pid_t child = ::fork();
  if (child == 0) {  // what is lost stays lost in a process
    at::set_num_threads(1);
    const auto mapped = map_checkpoint(path);
    fs::resize_file(path + "/rank-00001-of-00002.bin", 4096);
    const auto& large = mapped.model.back().tensor;
    double sum = 0;  // by hand: LibTorch's threads are not in this process
    for (std::int64_t i = 0; i < large.numel(); ++i) sum += large.const_data_ptr<float>()[i];
    ::_exit(sum >= 0 && lost_mapped_file().find("model.safetensors") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(RankFiles, FailOnAllWhereOneFailsAndLeaveNothing) {
  const TemporaryFolder folder;
  auto parts = divided(larger_checkpoint(), 3);
  for (auto& part : parts[2].model) part.elements = part.elements.to(at::kComplexFloat);
  for (const auto& result : save_together(folder.path(), parts, per_rank()))
    EXPECT_THAT(result, testing::StartsWith("error: "));
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(RankFiles, KilledAnywhereLeaveOnlyCompleteCheckpoints) {
  const TemporaryFolder folder;
  for (int kill = 0; kill < 20; ++kill) {
    const pid_t child = ::fork();
    if (child == 0)
      for (std::int64_t step = 100 * kill;; ++step) {
        at::set_num_threads(1);  // two threads must not start LibTorch's at once
        save_together(folder.path(), divided(small_checkpoint(step), 3), per_rank());
        prune_checkpoints(folder.path(), 2, "");
      }
    const auto before = list_checkpoints(folder.path());
    while (list_checkpoints(folder.path()) == before) ::usleep(1000);  // it saves
    ::usleep(1'517 * static_cast<unsigned>(kill));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const auto& path : list_checkpoints(folder.path())) ASSERT_EQ(refusal_of(path), "");
  }
  EXPECT_FALSE(list_checkpoints(folder.path()).empty());
}

TEST(RankFiles, AndSharedOnesReplaceEachOther) {
  const TemporaryFolder folder;
  const auto checkpoint = small_checkpoint(3);
  save_together(folder.path(), divided(checkpoint, 2), per_rank());
  const auto path = save_checkpoint(folder.path(), checkpoint);
  EXPECT_THAT(names_in(path), testing::Contains("model.safetensors"));
  save_together(folder.path(), divided(checkpoint, 2), per_rank());
  EXPECT_THAT(names_in(path), testing::Contains("rank-00001-of-00002.bin"));
  EXPECT_EQ(refusal_of(path), "");
}

// statfs(2) and linux/magic.h: NFS, SMB2, FUSE and 9P promise no coherence between machines.
TEST(SharedStorage, IsOfFileSystemsWhoseClientsSeeEachOthersPages) {
  for (const unsigned long type : {0x0BD00BD0UL, 0x47504653UL, 0x00C36400UL})
    EXPECT_TRUE(lets_machines_share_files(type));
  for (const unsigned long type : {0x6969UL, 0xFE534D42UL, 0x65735546UL, 0x01021997UL})
    EXPECT_FALSE(lets_machines_share_files(type));
}

TEST(Shares, HaveEveryElementOnce) {
  auto checkpoint = larger_checkpoint();
  checkpoint.model.push_back({"strided", ramp({700, 3, 300}).permute({1, 2, 0})});
  const auto whole = parts_of(checkpoint);
  const TemporaryFolder folder;
  const auto alone = save_checkpoint(folder / "alone", checkpoint);
  for (const int writers : {1, 2, 3, 7, 40}) {
    std::vector<CheckpointParts> parts;
    for (int rank = 0; rank < writers; ++rank) parts.push_back(share_of(whole, rank, writers));
    const auto path = save_together(folder / std::to_string(writers), parts)[0];
    EXPECT_EQ(bytes_of_files(path), bytes_of_files(alone)) << writers;
  }
}

TEST(Shares, OfASmallCheckpointAreTheFirsts) {
  const auto whole = parts_of(small_checkpoint(1));
  EXPECT_EQ(share_of(whole, 0, 4).model.size(), whole.model.size());
  EXPECT_TRUE(share_of(whole, 3, 4).model.empty());
}

}  // namespace
}  // namespace ddptrain
