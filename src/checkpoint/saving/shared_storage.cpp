#include "checkpoint/saving/shared_storage.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

// linux/magic.h, and stat.c of GNU coreutils for those that the kernel does not have.
constexpr std::array<unsigned long, 5> coherent{
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x00C36400,  // CephFS
    0x7461636F,  // OCFS2
    0x01161970,  // GFS2
};

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

bool lets_machines_share_files(unsigned long type) {
  return std::ranges::find(coherent, type) != coherent.end();
}

bool lets_machines_share_files(const std::string& folder) {
  struct statfs about {};
  if (::statfs(existing_folder(folder).c_str(), &about) != 0) return false;
  return lets_machines_share_files(static_cast<unsigned long>(about.f_type) & 0xFFFFFFFF);
}

std::string machine_name() {
  try {  // random(4): drawn when the kernel starts
    return std::string(trim(read_text("/proc/sys/kernel/random/boot_id")));
  } catch (const Error&) {
    return host_name();
  }
}

std::string place_on_machine(const std::string& folder) {
  make_folders(folder);
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0)
    throw Error(Exit::data, "cannot read the folder '{}': {}", folder, std::strerror(errno));
  return fmt::format("{} {} {}", machine_name(), about.st_dev, about.st_ino);
}

}  // namespace ddptrain
