// Names in archives as UTF-8, whatever the locale.
#pragma once

#include <clocale>

namespace ddptrain {

/// While it lives, this thread's characters are UTF-8: libarchive converts names to the locale's.
class Utf8Names {
 public:
  Utf8Names() {
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"})
      if (!locale_) locale_ = ::newlocale(LC_CTYPE_MASK, name, nullptr);
    if (locale_) before_ = ::uselocale(locale_);
  }
  ~Utf8Names() {
    if (!locale_) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;
  /// A machine without any such locale reads only ASCII.
  bool ok() const { return locale_ != nullptr; }

 private:
  locale_t locale_ = nullptr;
  locale_t before_ = nullptr;
};

}  // namespace ddptrain
