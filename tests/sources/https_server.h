// Files of a folder over https on this machine alone, with a certificate that only the test trusts.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace ddptrain {

class HttpsServer {
 public:
  /// Serves `folder`; its certificate is put into `keys`. While it lives, curl trusts that one.
  HttpsServer(const std::string& folder, const std::string& keys) {
    const auto made =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout " +
        keys + "/key.pem -out " + keys + "/certificate.pem 2> /dev/null";
    if (std::system(made.c_str()) != 0) return;
    ::setenv("CURL_CA_BUNDLE", (keys + "/certificate.pem").c_str(), 1);
    start(folder, keys);
  }
  ~HttpsServer() {
    ::unsetenv("CURL_CA_BUNDLE");
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  /// Empty when there is no server.
  std::string url(const std::string& path, const std::string& user = "") const {
    return port_ == 0 ? "" : "https://" + user + "localhost:" + std::to_string(port_) + "/" + path;
  }

 private:
  void start(const std::string& folder, const std::string& keys) {
    const std::string program =
        "import functools, http.server, ssl, sys\n"
        "class Quiet(http.server.SimpleHTTPRequestHandler):\n"
        "    def log_message(self, *_): pass\n"
        "    def do_GET(self):\n"
        "        if self.path != '/moved': return super().do_GET()\n"
        "        self.send_response(302)\n"
        "        self.send_header('Location', 'http://localhost:9/x')\n"
        "        self.end_headers()\n"
        "handler = functools.partial(Quiet, directory=sys.argv[1])\n"
        "server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)\n"
        "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
        "context.load_cert_chain(sys.argv[2] + '/certificate.pem', sys.argv[2] + '/key.pem')\n"
        "server.socket = context.wrap_socket(server.socket, server_side=True)\n"
        "print(server.server_port, flush=True)\n"
        "server.serve_forever()\n";
    int ends[2];
    if (::pipe(ends) != 0) return;
    const char* words[] = {"/usr/bin/python3", "-c",         program.c_str(),
                           folder.c_str(),     keys.c_str(), nullptr};
    posix_spawn_file_actions_t streams;
    posix_spawn_file_actions_init(&streams);
    posix_spawn_file_actions_adddup2(&streams, ends[1], STDOUT_FILENO);
    posix_spawn(&process_, words[0], &streams, nullptr, const_cast<char**>(words), environ);
    posix_spawn_file_actions_destroy(&streams);
    ::close(ends[1]);
    std::FILE* port_pipe = ::fdopen(ends[0], "r");
    if (std::fscanf(port_pipe, "%d", &port_) != 1) port_ = 0;
    std::fclose(port_pipe);
  }

  pid_t process_ = 0;
  int port_ = 0;
};

}  // namespace ddptrain
