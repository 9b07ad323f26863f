"""scripts/fetch-wheels continues what was interrupted and checks digests, against a server of its own.

    python3 fetch_test.py FOLDER    which is not used
"""

import hashlib
import http.server
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTENT = bytes(range(256)) * 4096
DIGEST = hashlib.sha256(CONTENT).hexdigest()
NAME = "thing-1.0-py3-none-any.whl"


class Index(http.server.BaseHTTPRequestHandler):
    """A package index with one wheel; sends `limit` bytes of it at most."""

    limit = len(CONTENT)
    ranges = True
    asked = []  # the Range headers of requests for the wheel

    def do_GET(self):
        if self.path == "/simple/thing/":
            page = f'<a href="../../files/{NAME}#sha256={DIGEST}">{NAME}</a>'.encode()
            self.answer(200, page, len(page))
            return
        asked = self.headers.get("Range", "")
        Index.asked.append(asked)
        start = int(asked.split("=")[1].rstrip("-")) if asked and Index.ranges else 0
        rest = CONTENT[start:]
        if not rest:
            return self.answer(416, b"", 0)
        self.answer(206 if start else 200, rest[:Index.limit], len(rest), start)

    def answer(self, code, content, length, start=0):
        self.send_response(code)
        self.send_header("Content-Length", str(length))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = True

    def log_message(self, *_):
        pass


class FetchWheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.wheels = self.home / "wheels"
        self.pin(DIGEST)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.index = f"http://127.0.0.1:{server.server_port}/simple"
        Index.limit, Index.ranges, Index.asked = len(CONTENT), True, []

    def pin(self, digest):
        (self.home / "list.txt").write_text(f"# pinned\nthing==1.0 --hash=sha256:{digest}\n")

    def fetch(self, index=None):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PIP_INDEX_URL": index or self.index,
                       "PIP_CONFIG_FILE": os.devnull, "no_proxy": "127.0.0.1"}
        ended = subprocess.run([ROOT / "scripts/fetch-wheels", self.home / "list.txt", self.wheels], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return ended.returncode, [line for line in ended.stderr.splitlines() if line.startswith("setup: ")]

    def content(self):
        return (self.wheels / NAME).read_bytes()

    def test_an_interrupted_download_is_continued_where_it_was(self):
        Index.limit = 300000
        self.assertEqual(self.fetch(), (1, [f"setup: {NAME}",
                                            f"setup: the download of {NAME} was interrupted (exit code 18 of curl); 'make setup' continues it"]))
        Index.limit = len(CONTENT)
        self.assertEqual(self.fetch(), (0, [f"setup: {NAME}, from byte 300000 on"]))
        self.assertEqual((Index.asked, self.content()), (["", "bytes=300000-"], CONTENT))

    def test_a_wheel_that_is_there_is_not_downloaded_again(self):
        self.fetch()
        self.assertEqual((self.fetch(), len(Index.asked)), ((0, []), 1))

    def test_a_whole_part_is_taken(self):
        self.wheels.mkdir()
        (self.wheels / f"{DIGEST[:16]}.part").write_bytes(CONTENT)
        self.assertEqual(self.fetch()[0], 0)
        self.assertEqual(self.content(), CONTENT)

    def test_a_server_without_ranges_starts_again(self):
        Index.ranges = False
        self.wheels.mkdir()
        (self.wheels / f"{DIGEST[:16]}.part").write_bytes(CONTENT[:5000])
        self.assertEqual(self.fetch()[0], 0)
        self.assertEqual(self.content(), CONTENT)

    def test_a_damaged_part_is_deleted(self):
        self.wheels.mkdir()
        (self.wheels / f"{DIGEST[:16]}.part").write_bytes(b"x" * 5000)
        code, lines = self.fetch()
        url = self.index.replace("/simple", "/files/") + NAME
        self.assertEqual((code, lines[-1]), (1, f"setup: {NAME} from {url} has another sha256 than scripts/libtorch or "
                                                "scripts/arrow.txt pin; it was deleted"))
        self.assertEqual(self.fetch()[0], 0)
        self.assertEqual(self.content(), CONTENT)

    def test_another_index_is_named(self):
        self.pin("0" * 64)
        self.assertEqual(self.fetch(), (1, [f"setup: the index {self.index} has no thing 1.0 with sha256 {'0' * 64}; PyPI has it"]))

    def test_an_index_that_does_not_answer_is_named(self):
        code, lines = self.fetch("http://127.0.0.1:1/simple")
        self.assertEqual(code, 1)
        self.assertRegex(lines[0], "^setup: http://127.0.0.1:1/simple/thing/ cannot be read: curl: .*[Cc]ould.*n.t connect to "
                                   "server; 'make setup' continues where it was$")


if __name__ == "__main__":
    unittest.main(argv=["fetch_test.py"])
