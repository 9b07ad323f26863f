// A checkpoint that several write together has the bytes of one that one has written.
#include "checkpoint/saving/save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/saving/together.h"
#include "checkpoint/verify.h"
#include "checkpoint/weights.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SaveTogether, HasTheBytesOfOneWriter) {
  const auto checkpoint = larger_checkpoint();
  for (const std::int64_t largest : {kLargestFile, std::int64_t{1} << 20}) {
    const TemporaryFolder folder;
    const auto alone = save_checkpoint(folder / "alone", checkpoint, {largest});
    EXPECT_EQ(refusal_of(alone), "");
    for (const int writers : {2, 3, 4}) {
      const auto root = folder / std::to_string(writers);
      const auto paths = save_together(root, divided(checkpoint, writers), {largest});
      for (const auto& path : paths) EXPECT_EQ(path, root + "/step-00000007");
      ASSERT_EQ(names_in(paths[0]), names_in(alone));
      for (const auto& name : names_in(alone))
        EXPECT_EQ(read_bytes(paths[0] + "/" + name), read_bytes(alone + "/" + name))
            << writers << " writers, " << name;
      EXPECT_THAT(names_in(root), ElementsAre("step-00000007"));
    }
  }
}

TEST(SaveTogether, InSeveralFilesHasTheIndexOfHuggingFace) {
  const TemporaryFolder folder;
  const auto saved = larger_checkpoint();
  const auto path = save_checkpoint(folder.path(), saved, {1 << 20});
  EXPECT_THAT(names_in(path), testing::IsSupersetOf({"model-00001-of-00003.safetensors",
                                                     "model-00003-of-00003.safetensors",
                                                     "model.safetensors.index.json"}));
  const auto index = nlohmann::json::parse(read_bytes(path + "/model.safetensors.index.json"));
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : saved.model) {
    bytes += static_cast<std::int64_t>(tensor.nbytes());
    const auto file = path + "/" + index["weight_map"][name].get<std::string>();
    const auto there = read_safetensors(file).tensors;
    EXPECT_TRUE(std::ranges::any_of(there, [&](const auto& each) {
      return each.name == name && each.tensor.equal(tensor);
    })) << name;
  }
  EXPECT_EQ(index["metadata"]["total_size"], bytes);
  EXPECT_EQ(index["weight_map"].size(), saved.model.size());
  const auto back = load_checkpoint(path);
  ASSERT_EQ(back.model.size(), saved.model.size());
  EXPECT_EQ(read_saved_weights(path, Calls::refused).tensors.size(), saved.model.size());
}

TEST(SaveTogether, WithAMissingFileOrADamagedBlockNamesIt) {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), larger_checkpoint(), {1 << 20});
  for (const auto& name : names_in(path)) {
    const auto bytes = read_bytes(path + "/" + name);
    fs::remove(path + "/" + name);
    EXPECT_THAT(refusal_of(path), HasSubstr("/" + name));
    auto damaged = bytes;
    damaged.back() = static_cast<char>(damaged.back() ^ 16);
    write_bytes(path + "/" + name, damaged);
    EXPECT_THAT(refusal_of(path), HasSubstr("/" + name)) << "damaged";
    write_bytes(path + "/" + name, bytes);
  }
  EXPECT_EQ(refusal_of(path), "");
  const auto file = path + "/MANIFEST.json";
  auto manifest = parse_manifest(read_text(file), file);
  std::erase_if(manifest.files,
                [](const auto& each) { return each.name == "model-00002-of-00003.safetensors"; });
  fs::remove(file);
  write_file(file, to_text(manifest));
  EXPECT_EQ(refusal_of(path), "'" + file + "' does not list 'model-00002-of-00003.safetensors'");
}

TEST(SaveTogether, OfAnotherSaveIsNamed) {
  const TemporaryFolder folder;
  auto other = larger_checkpoint();
  for (auto& [name, tensor] : other.optimizer) tensor = tensor.add(1);
  const auto one = save_checkpoint(folder / "one", larger_checkpoint());
  const auto two = save_checkpoint(folder / "two", other);
  write_bytes(one + "/optimizer.safetensors", read_bytes(two + "/optimizer.safetensors"));
  EXPECT_EQ(refusal_of(one), "'" + one +
                                 "/optimizer.safetensors' is of another checkpoint: MANIFEST.json "
                                 "has other checksums of all tensors");
}

TEST(SaveTogether, SharesTheWorkOfVerifying) {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), larger_checkpoint());
  const auto file = path + "/model.safetensors";
  const auto bytes = read_bytes(file);
  for (std::size_t at = bytes.size() - 2'000'000; at < bytes.size(); at += 300'000) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_bytes(file, damaged);
    EXPECT_EQ(verifiers_that_refuse(path, 3), 1) << at;
  }
}

TEST(SaveTogether, FailsOnAllWhereOneFailsAndLeavesNothing) {
  const TemporaryFolder folder;
  auto parts = divided(larger_checkpoint(), 3);
  auto& lost = parts[2].model.back();
  lost.elements = at::Tensor();  // it cannot be read any more
  for (const auto& result : save_together(folder.path(), parts))
    EXPECT_THAT(result, testing::StartsWith("error: rank 2: "));
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(SaveTogether, InAPlaceThatIsNoFolderIsTheSameErrorOnAll) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "");
  for (const auto& result :
       save_together(folder / "file/checkpoints", divided(larger_checkpoint(), 2)))
    EXPECT_EQ(result, "error: cannot make the folder '" + (folder / "file/checkpoints") +
                          "': not a directory");
}

// Written by the version before blocks had checksums.
TEST(SaveTogether, LoadsCheckpointsOfFormatOne) {
  const TemporaryFolder folder;
  const auto saved = small_checkpoint(4);
  const auto path = folder / "step-00000004";
  fs::create_directory(path);
  Manifest manifest{4, {}};
  const auto add = [&](const std::string& name, const std::vector<NamedTensor>& tensors) {
    ManifestFile file{
        name, write_safetensors(path + "/" + name, {tensors, {{"format", "pt"}}}), {}};
    for (const auto& each : tensors)
      file.tensors.emplace_back(each.name, tensor_checksum(each.tensor));
    manifest.files.push_back(file);
  };
  add("model.safetensors", saved.model);
  add("optimizer.safetensors", saved.optimizer);
  manifest.files.push_back({"state.json", write_file(path + "/state.json", saved.state), {}});
  write_file(path + "/MANIFEST.json", to_text(manifest));
  const auto back = load_checkpoint(path);
  EXPECT_TRUE(back.model[0].tensor.equal(saved.model[0].tensor));
  auto bytes = read_bytes(path + "/model.safetensors");
  bytes.back() ^= 1;
  write_bytes(path + "/model.safetensors", bytes);
  EXPECT_EQ(refusal_of(path), "'" + path +
                                  "/model.safetensors' is damaged: its sha256 is not that of "
                                  "MANIFEST.json (tensor 'conv.bias')");
}

}  // namespace
}  // namespace ddptrain
