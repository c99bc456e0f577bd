#!/usr/bin/env python3
"""Checks signatures of S3 requests (AWS Signature Version 4) without any code of blkcast or libcurl.

sigv4.py --vectors       holds this program's own signatures against those that AWS publishes
sigv4.py PORT-FILE LOG   a small object store in memory: it refuses a request whose signature is wrong with 403, and
                         writes a line "METHOD PATH QUERY STATUS" to LOG for each

The vectors are facts of "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk",
Amazon S3 API Reference, "Examples"; the keys in them are AWS's own examples.
"""
import calendar
import hashlib
import hmac
import http.server
import sys
import time
import urllib.parse

ACCESS, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
EMPTY = hashlib.sha256(b"").hexdigest()


def quote(text):
    return urllib.parse.quote(text, safe="-_.~")


def signature(method, path, query, headers, signed, payload, date, region, service="s3"):
    """headers: names in lower case; signed: their names in order; date: 20130524T000000Z"""
    pairs = sorted((quote(k), quote(v)) for k, v in urllib.parse.parse_qsl(query, keep_blank_values=True))
    canonical = "\n".join([
        method, urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"), "&".join(f"{k}={v}" for k, v in pairs),
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed), ";".join(signed), payload])
    scope = f"{date[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (date[:8], region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def vectors():
    host, date = "examplebucket.s3.amazonaws.com", "20130524T000000Z"
    put = hashlib.sha256(b"Welcome to Amazon S3.").hexdigest()
    plain = {"host": host, "x-amz-content-sha256": EMPTY, "x-amz-date": date}
    known = [
        ("GET", "/test.txt", "", dict(plain, range="bytes=0-9"), EMPTY,
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        ("PUT", "/test%24file.text", "", {"date": "Fri, 24 May 2013 00:00:00 GMT", "host": host, "x-amz-content-sha256": put,
                                          "x-amz-date": date, "x-amz-storage-class": "REDUCED_REDUNDANCY"}, put,
         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        ("GET", "/", "lifecycle=", plain, EMPTY, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("GET", "/", "max-keys=2&prefix=J", plain, EMPTY,
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]
    wrong = 0
    for method, path, query, headers, payload, want in known:
        got = signature(method, path, query, headers, sorted(headers), payload, date, "us-east-1")
        wrong += got != want
        print("ok" if got == want else f"wrong: {got}, expected {want}:", method, path, query)
    return wrong


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects = {}
    log = None

    def log_message(self, *args):
        pass

    def why_wrong(self, body):
        """The S3 code of what is wrong with the signature; None where nothing is."""
        headers = {k.lower(): v for k, v in self.headers.items()}
        scheme, _, rest = headers.get("authorization", "").partition(" ")
        fields = dict(f.strip().split("=", 1) for f in rest.split(",") if "=" in f)
        if scheme != "AWS4-HMAC-SHA256" or not {"Credential", "SignedHeaders", "Signature"} <= set(fields):
            return "AccessDenied"
        access, day, region, service, _ = fields["Credential"].split("/")
        signed = fields["SignedHeaders"].split(";")
        payload, date = headers.get("x-amz-content-sha256", ""), headers.get("x-amz-date", "")
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed) or date[:8] != day:
            return "AccessDenied"
        if access != ACCESS or (region, service) != ("eu-test-1", "s3"):
            return "InvalidAccessKeyId"
        if abs(time.time() - calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))) > 900:
            return "RequestTimeTooSkewed"
        if hashlib.sha256(body).hexdigest() != payload:
            return "XAmzContentSHA256Mismatch"
        path, _, query = self.path.partition("?")
        want = signature(self.command, path, query, headers, signed, payload, date, region, service)
        return None if hmac.compare_digest(want, fields["Signature"]) else "SignatureDoesNotMatch"

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        path, _, query = self.path.partition("?")
        self.log.write(f"{self.command} {path} {query or '-'} {status}\n")
        self.log.flush()

    def act(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        wrong = self.why_wrong(body)
        path, _, query = self.path.partition("?")
        if wrong:
            status = 400 if wrong == "XAmzContentSHA256Mismatch" else 403
            return self.answer(status, f"<Error><Code>{wrong}</Code></Error>".encode())
        if self.command == "PUT":
            self.objects[path] = body
            return self.answer(200)
        if self.command == "DELETE":
            return self.answer(204 if self.objects.pop(path, None) is not None else 404)
        if query:
            return self.answer(200, self.page(path, dict(urllib.parse.parse_qsl(query))))
        if path not in self.objects:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        return self.answer(206, self.objects[path][int(first):int(last) + 1])

    def page(self, bucket, query):
        """One object a page, so that the token, whose characters need coding, is signed too."""
        keys = sorted(k.removeprefix(bucket + "/") for k in self.objects)
        keys = [k for k in keys if k.startswith(query["prefix"]) and k > query.get("continuation-token", "")[6:]]
        item = f"<Contents><Key>{keys[0]}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified><Size>1</Size></Contents>"
        more = len(keys) > 1
        token = f"<NextContinuationToken>a+b/ ={keys[0]}</NextContinuationToken>" if more else ""
        return (f"<?xml version='1.0'?><ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>"
                f"{item if keys else ''}{token}</ListBucketResult>").encode()

    do_GET = do_PUT = do_DELETE = act


if sys.argv[1] == "--vectors":
    sys.exit(vectors())
Store.log = open(sys.argv[2], "w", encoding="utf-8")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write(f"{server.server_port}\n")
server.serve_forever()
