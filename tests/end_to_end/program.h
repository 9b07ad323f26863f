// Runs the built program as a user would, in a folder of its own.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "support/where.h"

namespace ddptrain::end_to_end {

struct Ended {
  int code = 0;     // exit code; 128 + n for a signal
  std::string out;  // stdout
  std::string err;  // stderr
};

/// A folder that is deleted with everything in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A started program; wait() collects it. The destructor kills what is left of its process group.
/// `executable` is the built program, or one that is to start it.
class Program {
 public:
  Program(const std::vector<std::string>& arguments, const std::string& folder,
          const std::map<std::string, std::string>& environment = {},
          const std::string& executable = test::program());
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  pid_t pid() const { return pid_; }
  void signal(int number) const;
  Ended wait();
  /// What it wrote to stderr so far.
  std::string err() const;
  bool running();

 private:
  pid_t pid_ = 0;
  std::string out_path_, err_path_;
  int status_ = 0;
  bool ended_ = false;
};

Ended run(const std::vector<std::string>& arguments, const std::string& folder,
          const std::map<std::string, std::string>& environment = {});

/// All that the program wrote to a terminal of 80 columns, as which it has stderr.
std::string on_terminal(const std::vector<std::string>& arguments, const std::string& folder);

/// What it writes to stdout where that is a terminal of `columns`; lines end with "\n".
std::string stdout_on_terminal(const std::vector<std::string>& arguments, const std::string& folder,
                               int columns);

std::string read(const std::string& path);
void write(const std::string& path, const std::string& text);
bool exists(const std::string& path);
std::vector<std::string> list(const std::string& folder);  // names, sorted

/// A small folder of shapes, made once per test program: 10 classes, 12 train and 4 val images
/// each, 32 px.
const std::string& shapes();
/// What recipes of tests read: SHAPES is shapes().
std::map<std::string, std::string> environment();
/// An override: a model for them.
inline constexpr const char* kSmallModel = "model={type: mnist_net, num_classes: auto}";

/// Of the loopback address, on which no program listens: tests run side by side.
std::string free_port();

/// The last step that a log reported, 0 before the first; `log.every` is to be 1 step.
int reached_step(const std::string& log);

/// Processes whose environment or command line holds `mark`: the folder of a Program finds it and
/// all that it started.
std::vector<pid_t> processes_with(const std::string& mark);

std::vector<pid_t> children_of(pid_t parent);

/// Whether DDPTRAIN_LONG asks for the tests that take minutes; `kOnlyLong` is why not.
bool long_tests();
inline constexpr const char* kOnlyLong = "takes minutes: DDPTRAIN_LONG=1 runs it";

/// A recipe for the small shapes at 32 px with a narrow residual network, which trains, saves and
/// loads in a quarter of the time of resnet18: text to write to a file.
std::string small_recipe(const std::string& extra = {});

}  // namespace ddptrain::end_to_end
