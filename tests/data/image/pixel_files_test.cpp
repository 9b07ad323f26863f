// CIFAR-10 and MNIST files that the test writes.
#include <gmock/gmock.h>

#include <filesystem>

#include "data/archives.h"
#include "data/image_data.h"

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
  EXPECT_THAT(data_problem(section("cifar10", folder)), HasSubstr("data_batch_1.bin"));
  write_cifar(folder);
  folder.write("data_batch_2.bin", cifar_record(1).substr(1));
  EXPECT_THAT(data_problem(section("cifar10", folder)),
              HasSubstr("data_batch_2.bin' has 3072 bytes"));
  folder.write("data_batch_2.bin", cifar_record(10));
  EXPECT_THAT(data_problem(section("cifar10", folder)), HasSubstr("label 10"));
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
  EXPECT_THAT(data_problem(section("mnist", folder)), HasSubstr("cut short or damaged"));
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
  folder.write("t10k-labels-idx1-ubyte", idx_head({3}) + "abc");
  EXPECT_THAT(data_problem(section("mnist", folder)), HasSubstr("3 labels for 2 images"));
  folder.write("t10k-labels-idx1-ubyte", idx_head({3}) + "ab");
  EXPECT_THAT(data_problem(section("mnist", folder)), HasSubstr("cut short"));
  folder.write("t10k-labels-idx1-ubyte", "\x1f\x8b\x08");
  EXPECT_THAT(data_problem(section("mnist", folder)), HasSubstr("damaged (gzip)"));
  folder.write("t10k-labels-idx1-ubyte", "text");
  EXPECT_THAT(data_problem(section("mnist", folder)), HasSubstr("not an IDX file"));
}

}  // namespace
}  // namespace ddptrain
