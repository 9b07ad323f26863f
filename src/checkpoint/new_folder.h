// A checkpoint's folder under construction, and how an old one goes.
#pragma once

#include <string>

namespace ddptrain {

/// `root`/.tmp-`name`: where a checkpoint is while it is written.
std::string temporary_folder(const std::string& root, const std::string& name);

/// That folder, deleted unless it was put in place. Errors (Exit::data) name it.
class NewFolder {
 public:
  NewFolder(const std::string& root, const std::string& name);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  const std::string& path() const { return path_; }

  /// In one step, so that there is a whole one at every moment; what was there goes with this.
  /// False where the file system cannot.
  bool exchange_with(const std::string& place);
  void put_at(const std::string& place);

 private:
  [[noreturn]] static void fail(const std::string& what, const std::string& path);

  std::string path_;
};

/// Deletes what a killed process left under `root`. One run writes at a time.
void remove_leftovers(const std::string& root);

/// Deletes a checkpoint, out of sight first: a folder that is half deleted is never listed. A
/// warning where it cannot.
void discard(const std::string& root, const std::string& name);
/// Without a warning: another process may delete it at the same time.
void discard_quietly(const std::string& root, const std::string& name);

}  // namespace ddptrain
