"""Rows come from the folder, the cache or a download, and are the documented ones or an error."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import logging
import threading

import pytest

from dpcore.errors import InputError
from dpcore_datasets.rows import download, rows_file
from dpcore_datasets.uci import Glass

DATA = b"a,y\n1,no\n"
SHA = hashlib.sha256(DATA).hexdigest()


def never() -> bytes:
    raise AssertionError("must not be fetched")


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch, cache):
    monkeypatch.delenv("DPCORE_DATA", raising=False)


def test_the_folder_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path))
    (tmp_path / "toy.csv.gz").write_bytes(gzip.compress(DATA))
    assert rows_file("toy", SHA, never) == tmp_path / "toy.csv.gz"


def test_a_folder_without_the_set_does_not_stand_in_the_way(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path))
    assert gzip.decompress(rows_file("toy", SHA, lambda: DATA).read_bytes()) == DATA


@pytest.mark.parametrize(
    ("data", "words"),
    [(gzip.compress(b"a,y\n2,no\n"), "checksum"), (b"a,y", "gzip"), (gzip.compress(DATA)[:9], "gzip")],
)
def test_other_rows_in_the_folder_are_refused(tmp_path, monkeypatch, data, words):
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path))
    (tmp_path / "toy.csv.gz").write_bytes(data)
    with pytest.raises(InputError, match=words):
        rows_file("toy", SHA, never)


def test_a_download_is_cached_once_it_is_right(cache):
    with pytest.raises(InputError, match=r"once converted.*checksum"):
        rows_file("toy", SHA, lambda: b"a,y\n2,no\n")
    assert not cache.exists()
    path = rows_file("toy", SHA, lambda: DATA)
    assert path == cache / "toy.csv.gz"
    assert rows_file("toy", SHA, never) == path
    assert [p.name for p in cache.iterdir()] == ["toy.csv.gz"]


def test_a_damaged_cache_is_fetched_again(cache):
    cache.mkdir()
    (cache / "toy.csv.gz").write_bytes(b"half")
    assert gzip.decompress(rows_file("toy", SHA, lambda: DATA).read_bytes()) == DATA


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("folder", [None, "somewhere"])
def test_without_network_and_folder_the_error_says_what_to_do(monkeypatch, folder):
    if folder:
        monkeypatch.setenv("DPCORE_DATA", folder)
    with pytest.raises(InputError) as caught:
        Glass().frame()
    message = str(caught.value)
    assert "\n" not in message
    for words in (
        "'glass'",
        "Set DPCORE_DATA to a folder with glass.csv.gz",
        "iris, wine",
        folder or "not set",
    ):
        assert words in message


def test_a_download_over_http(monkeypatch, capfd):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/toy.zip" else 404)
            self.end_headers()
            self.wfile.write(DATA)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert download("toy", f"{address}/toy.zip") == DATA
        with pytest.raises(InputError, match="HTTPError"):
            download("toy", f"{address}/none.zip")
        server.shutdown()
    assert capfd.readouterr().err == ""
    assert logging.getLogger().level == logging.WARNING
