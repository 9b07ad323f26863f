// data cifar10: the binary version (https://www.cs.toronto.edu/~kriz/cifar.html), data_batch_1.bin
// to data_batch_5.bin and test_batch.bin: records of a label and 32 x 32 red, green, blue bytes.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "data/dataset.h"
#include "data/image/pixel_dataset.h"
#include "sources/files/file_system.h"

namespace ddptrain {
namespace {

struct Cifar10Options {
  std::string root;
  PixelOptions pixels;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder with data_batch_1.bin to data_batch_5.bin and test_batch.bin.",
       .required = true,
       .path = true,
       .address = AddressUse::file});
    pixels.fields(f);
  }
};

constexpr std::size_t cifar_record = 1 + 3 * 32 * 32;

void add_file(const FileSystem& files, PixelSet& set, const std::string& root,
              const std::string& name) {
  set.files.push_back(files.map((std::filesystem::path(root) / name).string()));
  const auto bytes = set.files.back().bytes();
  if (bytes.size() % cifar_record != 0)
    throw Error(Exit::data,
                "'{}' has {} bytes, which is no multiple of {}: not the binary version of "
                "CIFAR-10, or cut short",
                set.files.back().path(), bytes.size(), cifar_record);
  for (std::size_t at = 0; at < bytes.size(); at += cifar_record) {
    set.labels.push_back(bytes[at]);
    set.pixels.push_back(bytes.data() + at + 1);
  }
}

std::array<PixelSet, 2> read_cifar10(const FileSystem& files, const std::string& root) {
  std::array<PixelSet, 2> sets;
  for (int i = 1; i <= 5; ++i) add_file(files, sets[0], root, fmt::format("data_batch_{}.bin", i));
  add_file(files, sets[1], root, "test_batch.bin");
  return sets;
}

std::vector<std::string> cifar10_classes() {
  return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
}

}  // namespace

Entry<Dataset> cifar10_dataset() {
  return entry<Dataset, Cifar10Options>(
      "cifar10", "CIFAR-10 in its binary version.",
      [](const Cifar10Options& options, const DataContext& context) -> std::unique_ptr<Dataset> {
        return std::make_unique<PixelDataset>(read_cifar10(*context.file_system, options.root),
                                              Extent{3, 32, 32}, cifar10_classes(),
                                              options.pixels.transforms, context);
      },
      {"gives_images", "gives_class", "pixels 32"});
}

}  // namespace ddptrain
