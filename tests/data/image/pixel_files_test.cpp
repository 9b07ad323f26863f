// CIFAR-10 and MNIST files that the test writes.
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "data/image/normalize_images.h"
#include "data/image_data.h"
#include "data/loader/loader.h"
#include "sources/archives.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string cifar_record(int label) {
  std::string record(1, static_cast<char>(label));
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 1024; ++i) record += static_cast<char>((label * 50 + c * 20 + i) % 256);
  return record;
}

void write_cifar(const TemporaryFolder& folder) {
  for (int i = 1; i <= 5; ++i)
    folder.write("data_batch_" + std::to_string(i) + ".bin", cifar_record(i) + cifar_record(i + 1));
  folder.write("test_batch.bin", cifar_record(9));
}

json section(const std::string& type, const TemporaryFolder& folder) {
  return {{"type", type}, {"root", folder.path()}};
}

TEST(Cifar10, ReadsLabelsAndPlanesOfEveryRecord) {
  const TemporaryFolder folder;
  write_cifar(folder);
  const auto data = build_data(section("cifar10", folder));
  EXPECT_EQ(data->facts().sample, (std::vector<std::int64_t>{3, 32, 32}));
  EXPECT_EQ(data->facts().classes.at(9), "truck");
  ASSERT_EQ(data->size(Split::train), 10);
  ASSERT_EQ(data->size(Split::valid), 1);
  EXPECT_EQ(data->label(Split::train, 3), 3);
  for (bool channels_last : {false, true}) {
    const auto layout = build_data(section("cifar10", folder), {.channels_last = channels_last});
    const auto batch = load_one(*layout, Split::train, 3).batch;
    EXPECT_EQ(batch.targets.at(0).item<std::int64_t>(), 3);
    for (int c = 0; c < 3; ++c)
      for (int i : {0, 33, 1023}) {
        const auto pixel = batch.inputs.at(0)[0][c][i / 32][i % 32].item<float>();
        EXPECT_FLOAT_EQ(pixel, static_cast<float>((150 + c * 20 + i) % 256) / 255);
      }
  }
}

TEST(Cifar10, RefusesFilesThatAreCutShortMissingOrWithStrangeLabels) {
  const TemporaryFolder folder;
  EXPECT_EQ(data_problem(section("cifar10", folder)),
            "cannot read '" + (folder / "data_batch_1.bin") + "': no such file or directory");
  write_cifar(folder);
  folder.write("data_batch_2.bin", cifar_record(1).substr(1));
  EXPECT_EQ(data_problem(section("cifar10", folder)),
            "'" + (folder / "data_batch_2.bin") +
                "' has 3072 bytes, which is no multiple of 3073: not the binary version of "
                "CIFAR-10, or cut short");
  folder.write("data_batch_2.bin", cifar_record(10));
  EXPECT_EQ(data_problem(section("cifar10", folder)),
            "'" + (folder / "data_batch_5.bin") +
                "': sample 2 of its split has label 10, and there are 10 classes");
}

std::string idx_head(std::initializer_list<int> sizes) {
  std::string head{0, 0, 8, static_cast<char>(sizes.size())};
  for (const int size : sizes) {
    head += std::string(2, '\0');
    head += static_cast<char>(size >> 8);
    head += static_cast<char>(size & 255);
  }
  return head;
}

void write_mnist(const TemporaryFolder& folder, const std::string& part, int count) {
  std::string images = idx_head({count, 5, 4}), labels = idx_head({count});
  for (int i = 0; i < count; ++i) {
    labels += static_cast<char>(i % 3);
    for (int p = 0; p < 20; ++p) images += static_cast<char>(i * 20 + p);
  }
  folder.write(part + "-images-idx3-ubyte", images);
  folder.write(part + "-labels-idx1-ubyte", labels);
}

TEST(Mnist, ReadsImagesOfAnySizeAndTheirLabels) {
  const TemporaryFolder folder;
  write_mnist(folder, "train", 6);
  write_mnist(folder, "t10k", 2);
  const auto data = build_data(section("mnist", folder));
  EXPECT_EQ(data->facts().sample, (std::vector<std::int64_t>{1, 5, 4}));
  EXPECT_EQ(data->facts().classes, (std::vector<std::string>{"0", "1", "2"}));
  ASSERT_EQ(data->size(Split::train), 6);
  ASSERT_EQ(data->size(Split::valid), 2);
  const auto batch = load_one(*data, Split::train, 4).batch;
  EXPECT_EQ(batch.targets.at(0).item<std::int64_t>(), 1);
  EXPECT_FLOAT_EQ(batch.inputs.at(0)[0][0][2][3].item<float>(), 91.0F / 255);
}

TEST(Mnist, ReadsFilesAsTheyAreDownloaded) {
  const TemporaryFolder folder;
  write_mnist(folder, "train", 6);
  write_mnist(folder, "t10k", 2);
  const auto plain = build_data(section("mnist", folder))->digest();
  for (const std::string part : {"train", "t10k"})
    for (const std::string kind : {"-images-idx3-ubyte", "-labels-idx1-ubyte"}) {
      const auto path = folder / (part + kind);
      write_gzip(path + ".gz", read_text(path));
      std::filesystem::remove(path);
    }
  const auto packed = build_data(section("mnist", folder));
  EXPECT_EQ(packed->digest(), plain);
  const auto batch = load_one(*packed, Split::train, 4).batch;
  EXPECT_FLOAT_EQ(batch.inputs.at(0)[0][0][2][3].item<float>(), 91.0F / 255);
  const auto labels = folder / "train-labels-idx1-ubyte.gz";
  folder.write("train-labels-idx1-ubyte.gz",
               read_text(labels).substr(0, read_text(labels).size() - 6));
  EXPECT_EQ(data_problem(section("mnist", folder)),
            "'" + labels + "' is cut short or damaged (gzip)");
}

TEST(Mnist, HasImagesOfOneSize) {
  const TemporaryFolder folder;
  write_mnist(folder, "train", 6);
  write_mnist(folder, "t10k", 2);
  folder.write("t10k-images-idx3-ubyte", idx_head({2, 2, 2}) + std::string(8, '\0'));
  EXPECT_EQ(data_problem(section("mnist", folder)),
            "'" + (folder / "t10k-images-idx3-ubyte") + "' has images of another size");
}

TEST(Mnist, RefusesFilesThatDoNotMatchTheirHead) {
  const TemporaryFolder folder;
  write_mnist(folder, "train", 6);
  write_mnist(folder, "t10k", 2);
  const auto labels = folder.write("t10k-labels-idx1-ubyte", idx_head({3}) + "abc");
  EXPECT_EQ(data_problem(section("mnist", folder)), "'" + labels + "' has 3 labels for 2 images");
  folder.write("t10k-labels-idx1-ubyte", idx_head({3}) + "ab");
  EXPECT_EQ(data_problem(section("mnist", folder)),
            "'" + labels + "': cut short: its head asks for more");
  folder.write("t10k-labels-idx1-ubyte", "\x1f\x8b\x08");
  EXPECT_EQ(data_problem(section("mnist", folder)),
            "'" + labels + "' is cut short or damaged (gzip)");
  folder.write("t10k-labels-idx1-ubyte", "text");
  EXPECT_THAT(data_problem(section("mnist", folder)), HasSubstr("not an IDX file"));
}

/// CIFAR-10's files, which have every value of every channel, under these training transforms.
json with_transforms(const TemporaryFolder& folder, const json& train) {
  auto data = section("cifar10", folder);
  const json gray = {{"type", "normalize"}, {"preset", "mnist"}};
  data["transforms"]["train"] = train;
  data["transforms"]["valid"] = json::array({gray});
  return data;
}

Batch all_rows(const Dataset& data, Split split) {
  auto batch = data.allocate(split, data.size(split));
  for (std::int64_t i = 0; i < batch.rows; ++i)
    EXPECT_TRUE(data.load(split, i, {.seed = 3, .epoch = 1, .position = i}, batch, i));
  return batch;
}

const json kNormalize = {{"type", "normalize"}, {"preset", "imagenet"}};
const json kFlip = {{"type", "horizontal_flip"}};

json erasing(const json& options) {
  json step = options;
  step["type"] = "random_erasing";
  return step;
}

std::vector<json> byte_endings() {
  const json cifar = {{"type", "normalize"}, {"preset", "cifar10"}};
  const json alike = {{"type", "normalize"}, {"mean", {0.5}}, {"std", {0.25}}};
  const json several = {{"p", 0.9}, {"max_count", 3}, {"value", {1, 0.3, -2}}};
  return {json::array(),
          json::array({kNormalize}),
          json::array({cifar}),
          json::array({alike}),
          json::array({kFlip, kNormalize, erasing({{"p", 1}})}),
          json::array({kNormalize, erasing(several)}),
          json::array({erasing({{"value", {7}}}), kNormalize})};
}

TEST(PixelsAsBytes, BecomeTheHostsFloatsBitForBit) {
  const TemporaryFolder folder;
  write_cifar(folder);
  for (const auto& train : byte_endings())
    for (const bool channels_last : {false, true})
      for (const auto split : {Split::train, Split::valid}) {
        SCOPED_TRACE(train.dump());
        const auto recipe = with_transforms(folder, train);
        const auto floats = all_rows(*build_data(recipe, {.channels_last = channels_last}), split);
        const auto bytes = all_rows(
            *build_data(recipe, {.channels_last = channels_last, .device = {.takes_bytes = true}}),
            split);
        ASSERT_TRUE(bytes.pixels);
        EXPECT_EQ(bytes.inputs.at(0).scalar_type(), at::kByte);
        EXPECT_EQ(bytes.inputs.at(0).strides(), floats.inputs.at(0).strides());
        for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
          const auto finished = finished_pixels(bytes.inputs, *bytes.pixels, type);
          ASSERT_EQ(finished.size(), 1U);
          EXPECT_EQ(finished[0].strides(), floats.inputs[0].strides());
          EXPECT_TRUE(at::equal(finished[0], floats.inputs[0].to(type)));
        }
      }
}

TEST(PixelsAsBytes, StayFloatsWhereADeviceCannotRepeatTheEnd) {
  const TemporaryFolder folder;
  write_cifar(folder);
  const auto is_float = [&](const json& train) {
    const auto data = build_data(with_transforms(folder, train), {.device = {.takes_bytes = true}});
    return !data->allocate(Split::train, 1).pixels;
  };
  const auto box = erasing({{"p", 1}});
  const json augment = {{"type", "fastai_augment"}};
  EXPECT_TRUE(is_float(json::array({augment, kNormalize})));
  EXPECT_TRUE(is_float(json::array({kNormalize, erasing({{"noise", true}})})));
  EXPECT_TRUE(is_float(json::array({kNormalize, box, kNormalize})));
  EXPECT_TRUE(is_float(json::array({kNormalize, kFlip})));
}

/// The epoch's batches in order, rows mixed. Some partners are of another batch.
std::vector<Batch> mixed_batches(const Dataset& data, const json& recipe) {
  const auto mix = catalog<Mix>().build(fragment<Mix>(recipe));
  const auto loader = make_loader(data, {.workers = 0, .seed = 5, .mix = mix.get()});
  EpochPlan plan;
  plan.batch = 5;
  plan.order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  plan.micros.push_back({{0, 1, 2, 3, 4}, 0, 0, 0});
  plan.micros.push_back({{5, 6, 7}, 0, 0, 0});
  plan.micros.push_back({{8, 9}, 0, 0, 0});
  loader->start(std::move(plan));
  return {loader->next(), loader->next(), loader->next()};
}

void expect_the_hosts(const Batch& bytes, const Batch& floats) {
  ASSERT_TRUE(bytes.pixels);
  const auto finished = finished_pixels(bytes.inputs, *bytes.pixels, at::kFloat);
  EXPECT_EQ(finished.at(0).strides(), floats.inputs.at(0).strides());
  EXPECT_TRUE(at::equal(finished[0], floats.inputs[0]));
  ASSERT_EQ(bytes.targets.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(bytes.targets[i], floats.targets[i]));
}

TEST(PixelsAsBytes, AreMixedAsFloatsAreBitForBit) {
  const TemporaryFolder folder;
  write_cifar(folder);
  const auto boxes = erasing({{"p", 0.8}, {"max_count", 2}, {"value", {1, 0.3, -2}}});
  const std::vector<json> mixes{{{"type", "cutmix"}, {"per", "row"}},
                                {{"type", "mixup"}, {"p", 0.7}},
                                {{"type", "one_of"}, {"per", "row"}}};
  for (const auto& train : {json::array({kNormalize}), json::array({kNormalize, boxes})})
    for (const auto& mix : mixes)
      for (const bool channels_last : {false, true}) {
        SCOPED_TRACE(train.dump() + mix.dump());
        const auto recipe = with_transforms(folder, train);
        const auto floats =
            mixed_batches(*build_data(recipe, {.channels_last = channels_last}), mix);
        const auto bytes = mixed_batches(
            *build_data(recipe, {.channels_last = channels_last, .device = {.takes_bytes = true}}),
            mix);
        for (std::size_t i = 0; i < floats.size(); ++i) expect_the_hosts(bytes[i], floats[i]);
      }
}

// Partners travel only where the host cannot mix bytes.
TEST(PixelsAsBytes, ArePastedOnTheHostWhereNothingIsErased) {
  const TemporaryFolder folder;
  write_cifar(folder);
  const auto data = build_data(with_transforms(folder, json::array({kNormalize})),
                               {.device = {.takes_bytes = true}});
  EXPECT_EQ(mixed_batches(*data, "cutmix")[0].inputs.size(), 1U);
  EXPECT_EQ(mixed_batches(*data, "mixup")[0].inputs.size(), 3U);
}

}  // namespace
}  // namespace ddptrain
