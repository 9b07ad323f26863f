"""A store on this machine alone, for tests: files of a folder by ranges, and faults by the first part of the path, which is
the bucket of s3://BUCKET/... and gs://BUCKET/... with this server as endpoint.

python3 store_server.py FOLDER prints its port. /count/PATH answers how many GETs of PATH there were.
  /files/    as they are                       /busy/    503 to the first two requests of each file and list
  /hang/     never answers a GET               /larger/  HEAD says ten bytes more
  /whole/    no ranges                         /short/   the first GET ends in the middle
  /signed/   403 unless signed (AWS Signature Version 4) with the key "test-key" and the secret "test-secret"
  /bearer/   401 unless the authorization is "Bearer test-bearer"
Lists (ListObjectsV2):
  /pages/    two entries a page                /secret/  403 to lists alone
  /moved/    the ETags of the list are others  /cut/     ends in the middle of an element
  /outside/  has a key "../outside.tar"        /again/   the same page again and again
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
import urllib.parse
import xml.sax.saxutils

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
    path, _, query = handler.path.partition("?")
    pairs = sorted((urllib.parse.quote(k, safe="-_.~"), urllib.parse.quote(v, safe="-_.~"))
                   for k, v in urllib.parse.parse_qsl(query, keep_blank_values=True))
    query = "&".join(f"{k}={v}" for k, v in pairs)
    request = "\n".join([handler.command, path, query, lines, names, handler.headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", handler.headers["x-amz-date"], f"{day}/{region}/s3/aws4_request",
                      hashlib.sha256(request.encode()).hexdigest()])
    key = functools.reduce(digest, [day, region, "s3", "aws4_request"], b"AWS4test-secret")
    token_is_signed = "x-amz-security-token" in names or "x-amz-security-token" not in handler.headers
    return token_is_signed and hmac.compare_digest(digest(key, text).hex(), signature)


def tag_of(file):
    return f'"{hashlib.md5(file.read_bytes()).hexdigest()}"'


def entries(prefix, delimiter):
    """Keys with their files, and common prefixes with none, sorted."""
    folder, found = pathlib.Path(sys.argv[1]), {}
    for file in folder.rglob("*"):
        key = file.relative_to(folder).as_posix()
        if not file.is_file() or not key.startswith(prefix):
            continue
        end = key.find(delimiter, len(prefix)) if delimiter else -1
        found[key if end < 0 else key[:end + 1]] = file if end < 0 else None
    return sorted(found.items())


def page_of(kind, query):
    """The page of a list as XML: docs.aws.amazon.com, "ListObjectsV2"."""
    all_entries = entries(query.get("prefix", ""), query.get("delimiter", ""))
    if kind == "outside":
        all_entries.append(("../outside.tar", pathlib.Path(__file__)))
    begin = query.get("continuation-token", "")
    rest = [entry for entry in all_entries if kind == "again" or not begin or entry[0] > urllib.parse.unquote(begin)]
    most = min(int(query.get("max-keys", 1000)), 2 if kind in ("pages", "again") else 1000)
    page, more = rest[:most], len(rest) > most
    xml_text = xml.sax.saxutils.escape
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    text += f"<Name>{kind}</Name><KeyCount>{len(page)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>"
    if more:  # a token that must be encoded in a query
        text += f"<NextContinuationToken>{xml_text(urllib.parse.quote(page[-1][0], safe=''))}</NextContinuationToken>"
    for key, file in page:
        if file is None:
            text += f"<CommonPrefixes><Prefix>{xml_text(key)}</Prefix></CommonPrefixes>"
            continue
        tag = '"moved"' if kind == "moved" else tag_of(file)
        text += (f"<Contents><Key>{xml_text(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                 f"<ETag>{xml_text(tag)}</ETag><Size>{file.stat().st_size}</Size></Contents>")
    text += "</ListBucketResult>"
    return text[:len(text) // 2] if kind == "cut" else text


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    tag = None

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        size = headers.pop("size", len(body))
        if self.tag:
            headers["ETag"] = self.tag
        for name, value in {"Content-Length": size, **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self):
        self.serve()

    def do_GET(self):
        self.serve()

    def list_bucket(self, kind, query):
        if kind == "none":
            return self.answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        if kind == "secret":
            return self.answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        return self.answer(200, page_of(kind, query).encode())

    def serve(self):
        self.tag = None
        path, _, query = self.path.partition("?")
        _, kind, *rest = urllib.parse.unquote(path).split("/")
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
        if kind == "bearer" and self.headers.get("Authorization") != "Bearer test-bearer":
            return self.answer(401)
        if kind == "busy" and turn <= 2 and (query or file.is_file()):
            return self.answer(503, Retry_After=0.01)
        if query and not name:
            return self.list_bucket(kind, dict(urllib.parse.parse_qsl(query)))
        if not file.is_file():
            return self.answer(404)
        content = file.read_bytes()
        self.tag = tag_of(file)
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
