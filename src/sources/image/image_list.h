// Which images there are, what they show, and which are held out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sources/files/file_system.h"
#include "sources/image/image_file.h"

namespace ddptrain {

struct KnownClasses;
struct ValidSpec;

struct ImageList {
  explicit ImageList(const FileSystem& system) : file_system(&system) {}

  const FileSystem* file_system;                          // where the files are
  std::unique_ptr<const FileSystem> own_files = nullptr;  // that one, if no one else owns it
  std::string root;
  std::vector<std::string> classes;
  bool multi_label = false;
  std::array<std::vector<ImageFile>, 2> files;  // by split: train, valid
  std::array<std::vector<double>, 2> weights;   // by split; empty: all equal
  std::vector<std::string> shards;  // below root, by ImageFile::shard; empty: files of their own
  std::vector<std::string> groups;  // of training files, for folds; empty: of their paths
};

/// Valid images at these paths, of unknown targets; the first is also a training image.
ImageList unlabeled_images(const std::vector<std::string>& paths,
                           const FileSystem& files = local_files());

/// Divides the training files of a list into train and valid: a fraction by seed, or those that a
/// text file names, one a line (their paths, or their names in any folder; fastai.FileSplitter), or
/// one fold. Errors (Exit::data): a line that names no image, a split without any, a fold that
/// cannot be (sources/split/fold.h).
void hold_out(ImageList& list, const ValidSpec& valid);

/// The same, or those below a folder of the list's root.
void divide(ImageList& list, const ValidSpec& valid);

/// Each label once: bytewise, or as numbers where all are.
std::vector<std::string> class_order(std::vector<std::string> labels);

/// Numbers labels by the known classes, or where there are none by `own`.
/// An image of another class is an Error (Exit::data), or left out with a warning.
void number_classes(ImageList& list, const KnownClasses& known,
                    const std::vector<std::string>& own);

/// Those of the list's classes that training images have.
std::vector<std::string> classes_in_train(const ImageList& list);

}  // namespace ddptrain
