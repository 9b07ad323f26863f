// Which sockets a running program listens on, read from /proc as `ss -ltnp` does.
#pragma once

#include <arpa/inet.h>
#include <sys/types.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ddptrain {

struct Listener {
  pid_t pid = 0;
  std::string address;  // "127.0.0.1", "::1", "0.0.0.0", ...
  int port = 0;
  bool is_loopback() const;
};
namespace listening {

namespace fs = std::filesystem;

inline std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> parent;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    std::ifstream file(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    char state = 0;
    pid_t of = 0;
    std::istringstream(text.substr(name_end + 1)) >> state >> of;
    parent[std::stoi(name)] = of;
  }
  return parent;
}

// "socket:[12345]" links among a process's open files; none of one that ended.
inline std::set<std::string> socket_inodes(pid_t pid) {
  std::set<std::string> inodes;
  std::error_code gone;
  fs::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", gone);
  for (const fs::directory_iterator end; !gone && at != end; at.increment(gone)) {
    std::error_code closed;
    const auto target = fs::read_symlink(at->path(), closed).string();
    if (target.rfind("socket:[", 0) == 0) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}

// Words of 32 bits in the machine's order: "0100007F" is 127.0.0.1.
inline std::string address_of(const std::string& hex) {
  std::uint32_t words[4] = {};
  for (std::size_t i = 0; i < hex.size() / 8; ++i)
    words[i] = static_cast<std::uint32_t>(std::stoul(hex.substr(8 * i, 8), nullptr, 16));
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(hex.size() == 8 ? AF_INET : AF_INET6, words, text, sizeof text);
  return text;
}

struct Row {
  std::string local, state, inode;
};

inline std::vector<Row> rows(pid_t pid, const std::string& table) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/net/" + table);
  std::string line;
  std::getline(file, line);  // header
  std::vector<Row> found;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string slot, remote, queues, timer, retransmits, uid, timeout;
    Row row;
    words >> slot >> row.local >> remote >> row.state >> queues >> timer >> retransmits >> uid >>
        timeout >> row.inode;
    found.push_back(row);
  }
  return found;
}

inline Listener listener(pid_t pid, const Row& row) {
  const auto colon = row.local.find(':');
  return {pid, address_of(row.local.substr(0, colon)),
          std::stoi(row.local.substr(colon + 1), nullptr, 16)};
}

constexpr const char* kTcpListens = "0A";

}  // namespace listening

inline bool Listener::is_loopback() const {
  return address.rfind("127.", 0) == 0 || address == "::1" || address.rfind("::ffff:127.", 0) == 0;
}

/// A process and all below it that exist at this moment.
inline std::vector<pid_t> process_tree(pid_t root) {
  const auto parent = listening::parents();
  std::vector<pid_t> tree;
  if (parent.contains(root)) tree.push_back(root);
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const auto& [pid, of] : parent)
      if (of == tree[i]) tree.push_back(pid);
  return tree;
}

/// Listening TCP sockets (IPv4 and IPv6) of a process and of all below it.
inline std::vector<Listener> listening_sockets(pid_t root) {
  std::vector<Listener> found;
  for (const auto pid : process_tree(root)) {
    const auto inodes = listening::socket_inodes(pid);
    for (const auto* table : {"tcp", "tcp6"})
      for (const auto& row : listening::rows(pid, table))
        if (row.state == listening::kTcpListens && inodes.contains(row.inode))
          found.push_back(listening::listener(pid, row));
  }
  return found;
}

/// All that waits for others in the network namespace of a process: TCP that listens, any UDP.
inline std::vector<Listener> sockets_of_namespace(pid_t pid) {
  std::vector<Listener> found;
  for (const auto* table : {"tcp", "tcp6", "udp", "udp6"})
    for (const auto& row : listening::rows(pid, table))
      if (table[0] == 'u' || row.state == listening::kTcpListens)
        found.push_back(listening::listener(pid, row));
  return found;
}

}  // namespace ddptrain
