// data mnist: IDX files (http://yann.lecun.com/exdb/mnist/), train-images-idx3-ubyte and so on, as
// they are or with .gz. Fashion-MNIST and others in the same form read as well.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "data/dataset.h"
#include "data/image/pixel_dataset.h"
#include "sources/files/file_system.h"
#include "sources/image/idx.h"

namespace ddptrain {
namespace {

struct MnistOptions {
  std::string root;
  PixelOptions pixels;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, "
              "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, each with or without .gz.",
       .required = true,
       .path = true,
       .address = AddressUse::file});
    pixels.fields(f);
  }
};

MappedFile open_idx(const FileSystem& files, const std::string& root, const std::string& name) {
  const auto folder = std::filesystem::path(root);
  const auto dotted = name.substr(0, name.rfind('-')) + "." + name.substr(name.rfind('-') + 1);
  for (const auto& stem : {name, dotted})  // the second as Kaggle names it
    for (const auto* end : {"-ubyte", "-ubyte.gz"})
      if (const auto path = (folder / (stem + end)).string();
          files.info(path).kind != FileKind::none)
        return files.map(path);
  return files.map((folder / (name + "-ubyte")).string());
}

PixelSet read_idx(const FileSystem& files, const std::string& root, const std::string& part,
                  Extent& extent) {
  PixelSet set;
  set.files.push_back(open_idx(files, root, part + "-images-idx3"));
  set.files.push_back(open_idx(files, root, part + "-labels-idx1"));
  const auto sizes = idx_sizes(set.files[0].bytes(), 3, set.files[0].path());
  const auto labels = idx_sizes(set.files[1].bytes(), 1, set.files[1].path());
  if (labels[0] != sizes[0])
    throw Error(Exit::data, "'{}' has {} labels for {} images", set.files[1].path(), labels[0],
                sizes[0]);
  const Extent size{1, static_cast<int>(sizes[1]), static_cast<int>(sizes[2])};
  if (extent.fixed() && !(size == extent))
    throw Error(Exit::data, "'{}' has images of another size", set.files[0].path());
  extent = size;
  const auto first_label = set.files[1].bytes().subspan(8);
  set.labels.assign(first_label.begin(), first_label.end());
  const auto* pixels = set.files[0].bytes().data() + 16;
  for (std::size_t i = 0; i < sizes[0]; ++i) set.pixels.push_back(pixels + i * sizes[1] * sizes[2]);
  return set;
}

std::unique_ptr<Dataset> read_mnist(const MnistOptions& options, const DataContext& context) {
  Extent extent{1, 0, 0};
  auto train = read_idx(*context.file_system, options.root, "train", extent);
  auto valid = read_idx(*context.file_system, options.root, "t10k", extent);
  const auto most = *std::max_element(train.labels.begin(), train.labels.end());
  std::vector<std::string> classes;
  for (int label = 0; label <= most; ++label) classes.push_back(std::to_string(label));
  std::array<PixelSet, 2> sets{std::move(train), std::move(valid)};
  return std::make_unique<PixelDataset>(std::move(sets), extent, std::move(classes),
                                        options.pixels.transforms, context);
}

}  // namespace

Entry<Dataset> mnist_dataset() {
  return entry<Dataset, MnistOptions>("mnist", "MNIST and its like in IDX files.", read_mnist,
                                      {"gives_images", "gives_class", "pixels 28 gray"});
}

}  // namespace ddptrain
