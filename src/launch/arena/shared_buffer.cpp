#include "launch/arena/shared_buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>

namespace ddptrain {
namespace {

constexpr int kBitsOfRank = 40;  // a rank has a TiB of the file, of which only parts exist

/// A limit on the sizes of files holds for those in memory, too: beyond it a signal ends the
/// process.
bool files_are_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

SharedBuffer::SharedBuffer(const Place& place, std::span<const int> ranks, int member)
    : place_(place), ranks_(ranks.begin(), ranks.end()), member_(member) {
  // Asked for now: memory that ends when it is written to ends the process.
  int failure = files_are_limited() ? EFBIG : EINTR;
  while (failure == EINTR)
    failure = ::posix_fallocate(place.file, static_cast<off_t>(begin_of(member)),
                                static_cast<off_t>(place.bytes));
  reserved_ = failure == 0;
}

SharedBuffer::~SharedBuffer() {
  for (auto* part : parts_) ::munmap(part, place_.bytes);
  if (reserved_)
    ::fallocate(place_.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(begin_of(member_)), static_cast<off_t>(place_.bytes));
}

bool SharedBuffer::map() {
  for (int member = 0; member < size(); ++member) {
    void* part = ::mmap(nullptr, place_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, place_.file,
                        static_cast<off_t>(begin_of(member)));
    if (part == MAP_FAILED) return false;
    parts_.push_back(static_cast<std::byte*>(part));
  }
  return true;
}

std::uint64_t SharedBuffer::begin_of(int member) const {
  return (static_cast<std::uint64_t>(ranks_[static_cast<std::size_t>(member)]) << kBitsOfRank) +
         place_.begin;
}

int make_buffer_file() { return ::memfd_create("ddptrain-buffers", MFD_CLOEXEC); }

}  // namespace ddptrain
