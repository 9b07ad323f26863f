// data.cache: the same batches with and without it.
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "base/output/log.h"
#include "data/image_data.h"
#include "support/refused.h"
#include "transforms/codecs/write.h"

namespace ddptrain {
namespace {

using nlohmann::json;

/// Every kind of file, one of them turned by its EXIF, one cut in two.
void write_kinds(const TemporaryFolder& folder) {
  for (const auto* name : {"a_rgb.jpg", "a_rgb_420_q60.jpg", "a_grey.jpg", "a_cmyk.jpg",
                           "a_exif.jpg", "a_rgb.png", "a_palette.png", "a_rgba.png"}) {
    folder.write(std::string("train/cat/") + name, image(name));
    folder.write(std::string("valid/cat/") + name, image(name));
  }
  const auto whole = image("a_rgb_420_q60.jpg");
  folder.write("train/cat/cut.jpg", whole.substr(0, whole.size() / 2));
}

json cached_section(const TemporaryFolder& folder, const json& first, const json& cache) {
  json section = {{"type", "image_folder"},
                  {"root", folder / ""},
                  {"transforms",
                   {{"train", json::array({first, {{"type", "horizontal_flip"}}})},
                    {"valid", json::array({{{"type", "resize"}, {"size", {20, 24}}}})}}}};
  if (!cache.is_null()) section["cache"] = cache;
  return section;
}

/// All rows of both splits over three epochs; NaN where a sample is left out.
at::Tensor all_rows(const Dataset& data) {
  std::vector<at::Tensor> rows;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    for (const auto split : {Split::train, Split::valid})
      for (std::int64_t i = 0; i < data.size(split); ++i) {
        auto batch = data.allocate(split, 1);
        const bool good = data.load(split, i, {.seed = 4, .epoch = epoch, .position = i}, batch, 0);
        rows.push_back(good ? batch.inputs[0].flatten() : at::full({1}, -1.0F));
      }
  return at::cat(rows);
}

const json small_crops = {{"type", "random_resized_crop"}, {"size", 24}, {"scale", {0.1, 1}}};
const json tiny_crops = {{"type", "random_resized_crop"}, {"size", 8}, {"scale", {0.3, 1}}};

TEST(DecodedCache, GivesTheSameBatches) {
  const TemporaryFolder folder;
  write_kinds(folder);
  const DataContext context{.skip_bad_samples = true};
  for (const auto& first : {small_crops, tiny_crops, json{{"type", "resize"}, {"size", {20, 24}}},
                            json{{"type", "fastai_resize"}, {"size", 24}}})
    for (const auto* mode : {"fast", "exact"}) {
      auto plain = cached_section(folder, first, nullptr);
      auto cached =
          cached_section(folder, first, {{"decoded", true}, {"folder", folder / "cache"}});
      plain["decode"] = cached["decode"] = mode;
      const auto expected = all_rows(*build_data(plain, context));
      EXPECT_TRUE(all_rows(*build_data(cached, context)).equal(expected)) << first << mode;
      EXPECT_TRUE(all_rows(*build_data(cached, context)).equal(expected)) << first << mode;
    }
}

TEST(DecodedCache, GivesTheSameBatchesWhereOnlySomeImagesHaveRoom) {
  const TemporaryFolder folder;
  write_kinds(folder);
  const DataContext context{.skip_bad_samples = true};
  const auto expected =
      all_rows(*build_data(cached_section(folder, small_crops, nullptr), context));
  const json cache = {{"decoded", true}, {"folder", folder / "cache"}, {"size", "100 KiB"}};
  const auto data = build_data(cached_section(folder, small_crops, cache), context);
  EXPECT_TRUE(all_rows(*data).equal(expected));
  EXPECT_TRUE(all_rows(*data).equal(expected));
}

TEST(DecodedCache, ThreadsShareIt) {
  const TemporaryFolder folder;
  write_kinds(folder);
  const DataContext context{.skip_bad_samples = true};
  const auto expected =
      all_rows(*build_data(cached_section(folder, small_crops, nullptr), context));
  const auto data = build_data(
      cached_section(folder, small_crops, {{"decoded", true}, {"folder", folder / "cache"}}),
      context);
  std::array<at::Tensor, 4> rows;
  std::vector<std::thread> threads;
  for (auto& each : rows) threads.emplace_back([&] { each = all_rows(*data); });
  for (auto& thread : threads) thread.join();
  for (const auto& each : rows) EXPECT_TRUE(each.equal(expected));
}

TEST(DecodedCache, DecodesAnImageOnce) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.jpg", image("a_rgb.jpg"));
  folder.write("valid/cat/a.jpg", image("a_rgb.jpg"));
  const auto path = folder / "train/cat/a.jpg";
  const auto changed = std::filesystem::last_write_time(path);
  const auto data = build_data(
      cached_section(folder, small_crops, {{"decoded", true}, {"folder", folder / "cache"}}));
  const auto before = load_one(*data, Split::train, 0).batch.inputs[0];
  folder.write("train/cat/a.jpg", std::string(image("a_rgb.jpg").size(), 'x'));
  std::filesystem::last_write_time(path, changed);  // nothing tells that it is another file
  EXPECT_TRUE(load_one(*data, Split::train, 0).batch.inputs[0].equal(before));
}

TEST(DecodedCache, ReadsAFileThatChanged) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.jpg", image("a_rgb.jpg"));
  folder.write("valid/cat/a.jpg", image("a_rgb.jpg"));
  const json cache = {{"decoded", true}, {"folder", folder / "cache"}};
  const auto data = build_data(cached_section(folder, small_crops, cache));
  load_one(*data, Split::train, 0);
  folder.write("train/cat/a.jpg", image("a_rgb_420_q60.jpg"));
  const auto plain = build_data(cached_section(folder, small_crops, nullptr));
  EXPECT_TRUE(load_one(*data, Split::train, 0)
                  .batch.inputs[0]
                  .equal(load_one(*plain, Split::train, 0).batch.inputs[0]));
}

TEST(DecodedCache, AnImageLargerThanAllowedIsRefusedAsWithoutIt) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.jpg", image("a_rgb.jpg"));
  folder.write("valid/cat/a.jpg", image("a_rgb.jpg"));
  auto section =
      cached_section(folder, small_crops, {{"decoded", true}, {"folder", folder / "cache"}});
  load_one(*build_data(section), Split::train, 0);
  section["max_pixels"] = 1000;
  EXPECT_THAT([&] { load_one(*build_data(section), Split::train, 0); },
              testing::ThrowsMessage<Error>(
                  "'" + (folder / "train/cat/a.jpg") +
                  "' is too large: 120 x 90 pixels, at most 1000 are decoded; data.max_pixels may "
                  "allow more"));
}

TEST(DecodedCache, AFolderThatIsNamedMustBeWritable) {
  const TemporaryFolder folder;
  write_kinds(folder);
  folder.write("file", "");
  const json cache = {{"decoded", true}, {"folder", folder / "file/cache"}};
  EXPECT_EQ(
      data_problem(cached_section(folder, small_crops, cache)),
      "data.cache.folder: cannot write in '" + (folder / "file/cache") + "'; name another folder");
}

TEST(DecodedCache, TheUsersFolderNeedNotBeWritable) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.jpg", image("a_rgb.jpg"));
  folder.write("valid/cat/a.jpg", image("a_rgb.jpg"));
  folder.write("home", "a file");
  const std::string outer = ::getenv("XDG_CACHE_HOME") ? ::getenv("XDG_CACHE_HOME") : "";
  ::setenv("XDG_CACHE_HOME", (folder / "home").c_str(), 1);
  std::vector<std::string> warnings;
  {
    const log::WarningListener listener([&](const std::string& line) { warnings.push_back(line); });
    const auto data = build_data(cached_section(folder, small_crops, {{"decoded", true}}));
    EXPECT_TRUE(load_one(*data, Split::train, 0).good);
    EXPECT_TRUE(load_one(*data, Split::train, 0).good);
  }
  outer.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", outer.c_str(), 1);
  EXPECT_THAT(warnings, testing::ElementsAre(testing::HasSubstr(
                            "; images are decoded each time (data.cache.folder may name another "
                            "folder)")));
}

TEST(DecodedCache, IsForImagesThatAreDecoded) {
  EXPECT_EQ(
      test::refused<Dataset>({{"type", "cifar10"}, {"root", "c"}, {"cache", {{"decoded", true}}}}),
      "'cache' is an option of 'image_folder', 'image_names' and others, not of 'cifar10'\n");
}

}  // namespace
}  // namespace ddptrain
