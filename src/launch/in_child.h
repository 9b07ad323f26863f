// Work in a process of its own, where the caller must fork again afterwards, or must survive it.
#pragma once

#include <functional>
#include <string>

namespace ddptrain {

/// Calls `work` in a forked child and returns what it returned. A child that dies is an Error:
/// Exit::memory where it was killed, as the kernel does when memory ends, else Exit::bug.
/// A signal that asks this process to stop goes to the child, and takes effect here once the child
/// has ended and removed its files. Where this process is killed, the child gets SIGTERM.
std::string in_child(const std::function<std::string()>& work);

}  // namespace ddptrain
