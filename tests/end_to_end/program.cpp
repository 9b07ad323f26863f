#include "end_to_end/program.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "end_to_end/fork_client.h"

namespace ddptrain::end_to_end {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void execute(std::string program, std::vector<std::string> arguments,
                          const std::string& folder) {
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> argv{program.data()};
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "ddptrain-test-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Program::Program(const std::vector<std::string>& arguments, const std::string& folder,
                 const std::map<std::string, std::string>& environment,
                 const std::string& executable) {
  static int count = 0;
  const auto stem =
      folder + "/.program-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  out_path_ = stem + ".out";
  err_path_ = stem + ".err";
  if (executable == test::program()) {
    std::vector<std::string> words{executable};
    words.insert(words.end(), arguments.begin(), arguments.end());
    pid_ = forked({folder, out_path_, err_path_, words, environment});
    if (pid_ > 0) return;
  }
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  ::setpgid(0, 0);
  ::setenv("PWD", folder.c_str(), 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  const int out = ::open(out_path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  const int err = ::open(err_path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  execute(executable, arguments, folder);
}

Program::~Program() {
  if (!ended_) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
  for (const auto& path : {out_path_, err_path_}) ::unlink(path.c_str());
}

void Program::signal(int number) const { ::kill(pid_, number); }

bool Program::running() {
  if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

Ended Program::wait() {
  if (!ended_) ::waitpid(pid_, &status_, 0);
  ended_ = true;
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {code, read(out_path_), read(err_path_)};
}

std::string Program::err() const { return read(err_path_); }

Ended run(const std::vector<std::string>& arguments, const std::string& folder,
          const std::map<std::string, std::string>& environment) {
  return Program(arguments, folder, environment).wait();
}

namespace {

/// All that the program writes to a terminal, to which `other` is not connected.
std::string on_terminal_but(int other, const std::vector<std::string>& arguments,
                            const std::string& folder, int columns) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  int terminal = -1;
  const auto child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(nothing, 0);
    ::dup2(nothing, other);
    execute(test::program(), arguments, folder);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::waitpid(child, nullptr, 0);
  ::close(terminal);
  return text;
}

}  // namespace

std::string on_terminal(const std::vector<std::string>& arguments, const std::string& folder) {
  return on_terminal_but(1, arguments, folder, 80);
}

std::string stdout_on_terminal(const std::vector<std::string>& arguments, const std::string& folder,
                               int columns) {
  auto text = on_terminal_but(2, arguments, folder, columns);
  std::erase(text, '\r');
  return text;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

bool exists(const std::string& path) { return fs::exists(path); }

std::vector<std::string> list(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

const std::string& shapes() {
  static const Folder folder;
  static const std::string path = [] {
    const auto made =
        run({"data", "make", "shapes", "shapes", "--train", "12", "--val", "4", "--size", "32"},
            folder.path());
    if (made.code != 0) throw std::runtime_error("data make shapes failed: " + made.err);
    return folder / "shapes";
  }();
  return path;
}

std::map<std::string, std::string> environment() { return {{"SHAPES", shapes()}}; }

std::string free_port() {
  constexpr int kFirst = 10000, kPorts = 22000;  // below those that Linux gives to connections
  static int next = ::getpid() * 31 % kPorts;
  for (int tried = 0; tried < kPorts; ++tried) {
    const int port = kFirst + next++ % kPorts;
    const int made = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool free = ::bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(made);
    if (free) return std::to_string(port);
  }
  throw std::runtime_error("no free port");
}

int reached_step(const std::string& log) {
  const auto at = log.rfind("\nstep ");
  return at == std::string::npos ? 0 : std::atoi(log.c_str() + at + 6);
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (const auto& thread :
       fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", gone)) {
    std::ifstream in(thread.path() / "children");
    for (pid_t child; in >> child;) children.push_back(child);
  }
  return children;
}

bool long_tests() {
  const char* wanted = std::getenv("DDPTRAIN_LONG");
  return wanted && std::string(wanted) == "1";
}

std::vector<pid_t> processes_with(const std::string& mark) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), ::isdigit)) continue;
    const auto line = read(entry.path() / "cmdline") + read(entry.path() / "environ");
    if (line.find(mark) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

std::string small_recipe(const std::string& extra) {
  return R"(recipe: 1
name: small
model: {type: xresnet18, stem: [8, 8, 16], widen: 0.25, num_classes: auto}
data:
  type: image_folder
  root: ${env:SHAPES}
  train: train
  valid: val
  transforms:
    train:
      - {type: random_resized_crop, size: 32, scale: [0.6, 1.0]}
      - {type: horizontal_flip, p: 0.5}
      - {type: normalize, preset: imagenet}
    valid:
      - {type: resize, size: 32}
      - {type: normalize, preset: imagenet}
batch: {global: 16}
train: {duration: 8 steps}
optimizer: {type: sgd, lr: 0.01, momentum: 0.9}
parallel: {device: cpu}
log: {every: 1 step, tensorboard: false}
)" + extra;
}

}  // namespace ddptrain::end_to_end
