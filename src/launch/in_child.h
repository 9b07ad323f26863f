// Work in a process of its own, where the caller must fork again afterwards, or must survive it.
#pragma once

#include <functional>
#include <string>

namespace ddptrain {

/// What a child left.
struct Answer {
  std::string text;  // that `work` returned; part of it, or none, where the child died
  int code = 0;      // its exit code, 128 + n after signal n
  int asked = 0;     // the signal that asked this process to stop meanwhile; 0: none did
};

/// Calls `work` in a forked child. A signal that asks this process to stop goes to the child, which
/// is waited for. Where this process is killed, the child gets SIGTERM.
Answer answer_of_child(const std::function<std::string()>& work);

/// The text alone. A child that dies is an Error: Exit::memory where it was killed, as the kernel
/// does when memory ends, else Exit::bug. A signal that asked this process to stop takes effect
/// once the child has ended and removed its files.
std::string in_child(const std::function<std::string()>& work);

}  // namespace ddptrain
