"""A store on this machine alone, for tests: files of a folder by ranges, and faults by the first part of the path.

python3 store_server.py FOLDER prints its port. /count/PATH answers how many GETs of PATH there were.
  /files/    as they are                       /busy/    503 to the first two requests of each file
  /hang/     never answers a GET               /larger/  HEAD says ten bytes more
  /whole/    no ranges                          /short/   the first GET ends in the middle
  /signed/   403 unless signed (AWS Signature Version 4) with the key "test-key" and the secret "test-secret"
"""
import collections
import functools
import hashlib
import hmac
import http.server
import pathlib
import re
import sys
import threading
import time

counts, lock = collections.Counter(), threading.Lock()


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def is_signed(handler):
    """The signature by its definition: docs.aws.amazon.com, "Create a signed AWS API request"."""
    form = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=test-key/(\d{8})/([^/]+)/s3/aws4_request, "
                        r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})", handler.headers.get("Authorization", ""))
    if not form:
        return False
    day, region, names, signature = form.groups()
    lines = "".join(f"{name}:{handler.headers.get(name, '').strip()}\n" for name in names.split(";"))
    request = "\n".join([handler.command, handler.path, "", lines, names, handler.headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", handler.headers["x-amz-date"], f"{day}/{region}/s3/aws4_request",
                      hashlib.sha256(request.encode()).hexdigest()])
    key = functools.reduce(digest, [day, region, "s3", "aws4_request"], b"AWS4test-secret")
    token_is_signed = "x-amz-security-token" in names or "x-amz-security-token" not in handler.headers
    return token_is_signed and hmac.compare_digest(digest(key, text).hex(), signature)


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        size = headers.pop("size", len(body))
        for name, value in {"Content-Length": size, "ETag": '"1"', **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self):
        self.serve()

    def do_GET(self):
        self.serve()

    def serve(self):
        _, kind, *rest = self.path.split("/")
        name = "/".join(rest)
        if kind == "count":
            return self.answer(200, str(counts["GET " + "/" + name]).encode())
        with lock:
            counts[self.command + " " + self.path] += 1
            counts[self.path] += 1
            turn = counts[self.path]
        file = pathlib.Path(sys.argv[1]) / name
        if kind == "signed" and not is_signed(self):
            return self.answer(403)
        if not file.is_file():
            return self.answer(404)
        if kind == "busy" and turn <= 2:
            return self.answer(503, Retry_After=0.01)
        content = file.read_bytes()
        if self.command == "HEAD":
            return self.answer(200, size=len(content) + (10 if kind == "larger" else 0))
        if kind == "hang":
            time.sleep(600)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not wanted or kind == "whole":
            return self.answer(200, content)
        first, last = int(wanted[1]), min(int(wanted[2]), len(content) - 1)
        if first > last:
            return self.answer(416)
        part = content[first:last + 1]
        if kind == "short" and counts["GET " + self.path] == 1:
            self.answer(206, part[:len(part) // 2], size=len(part), Content_Range=f"bytes {first}-{last}/{len(content)}")
            self.close_connection = True
            return None
        return self.answer(206, part, Content_Range=f"bytes {first}-{last}/{len(content)}")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
