#include "launch/shared_memory.h"

#include <sys/mman.h>

#include <new>

#include "base/error.h"

namespace ddptrain {

SharedMemory::SharedMemory(std::size_t bytes, const char* purpose) : bytes_(bytes) {
  data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED)
    throw Error(Exit::memory, std::string("no shared memory for ") + purpose);
}

SharedMemory::~SharedMemory() { ::munmap(data_, bytes_); }

ReportedText::ReportedText()
    : memory_(sizeof *text_, "what ranks report"), text_(new (memory_.data()) SharedText<kMost>) {}

ReportedNumber::ReportedNumber()
    : memory_(sizeof *number_, "what ranks report"),
      number_(new (memory_.data()) std::atomic<std::int64_t>(0)) {}

std::optional<std::int64_t> ReportedNumber::get() const {
  const std::int64_t number = *number_;
  if (number == 0) return {};
  return number;
}

}  // namespace ddptrain
